import type { SandboxFacts } from './state/sandbox-facts.ts'

/** An example address that belongs to nobody. The welcome text uses it as a recipient. */
const SAMPLE_RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'

/**
 * Returns the text that a person at the terminal sees after the start: addresses, the demo workspace's keys, and
 * commands to paste.
 */
export function formatWelcome(facts: SandboxFacts, dataDir: string): string {
  const { workspace, chains } = facts
  const rows = [
    ['REST API', facts.base_url],
    ['MCP server', `${facts.base_url}/mcp`],
    ['documentation', `${facts.base_url}/docs/`],
    ['dashboard, OAuth', facts.auth_url],
    ['control API', facts.control_url],
    ['enclave', facts.enclave_url],
    ['seller (x402, MPP)', facts.seller_url],
    [`test chain (${chains.test.id})`, chains.test.rpc_url],
    [`live chain (${chains.live.id})`, chains.live.rpc_url],
    ['workspace', workspace.slug],
    ['test key', workspace.keys.test],
    ['live key', workspace.keys.live],
    ['test wallet', workspace.wallets.test],
    ['live wallet', workspace.wallets.live],
    ['agent', workspace.agent_id],
    ['become an owner', workspace.invite_url],
    ['data', dataDir],
  ] as const
  const width = Math.max(...rows.map(([name]) => name.length))
  const table = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
  return [
    '',
    ...table,
    '',
    'Try it:',
    ...formatCommands(facts),
    '',
    'Ctrl-C stops everything; npm start continues with the same data. npm run reset deletes the data.',
  ].join('\n')
}

/** Returns example commands. Each one can be pasted alone into any POSIX shell. */
function formatCommands({ base_url: baseUrl, workspace }: SandboxFacts): string[] {
  const key = `-H 'Authorization: Bearer ${workspace.keys.test}'`
  const post = (path: string, body: object): string =>
    `  curl -s ${baseUrl}${path} ${key} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const payment = {
    agent_id: workspace.agent_id,
    wallet: workspace.wallets.test,
    to: SAMPLE_RECIPIENT,
    amount_usdc: '1.50',
    idempotency_key: 'first-payment',
  }
  return [
    '  # a new agent',
    post('/v1/agents', { id: 'my-agent' }),
    '  # a payment by the demo agent; run it twice: the same key makes only one payment',
    post('/v1/payments', payment),
    '  # the status of the payment: replace PAYMENT_ID',
    `  curl -s ${baseUrl}/v1/payments/PAYMENT_ID ${key}`,
  ]
}
