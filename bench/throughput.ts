import { setTimeout as delay } from 'node:timers/promises'
import { createClient, textAt, type Body } from '../sandbox/src/demo/http-client.ts'
import { startThrowAwaySandbox } from '../sandbox/src/throw-away-sandbox.ts'
import { openUsdcChain } from '../test/support/sandbox/usdc-chain.ts'

/**
 * `npm run bench:throughput` makes 100 payments a second from 10 wallets, for 20 seconds, through the whole sandbox. It
 * exits with code 1 unless every payment is accepted and confirmed, and the chain has exactly one transfer for each.
 */
const WALLETS = 10
const PER_SECOND = 100
const SECONDS = 20
/** The number of API keys. A key may make 30 payments a minute. */
const KEYS = 80
const CONFIRMATION_MS_MAX = 30_000
const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'

interface Sent {
  readonly key: string
  readonly status: number
  readonly ms: number
  readonly id: string
}

const sandbox = await startThrowAwaySandbox({ durable: true })
try {
  process.exitCode = (await run()) ? 0 : 1
} finally {
  await sandbox.stop()
  await sandbox.remove()
}

async function run(): Promise<boolean> {
  const { wallets, keys } = await prepare()
  say(`${PER_SECOND} payments a second for ${SECONDS} s, over ${WALLETS} wallets and ${KEYS} keys`)
  const started = performance.now()
  const sending: Promise<Sent>[] = []
  for (let index = 0; index < PER_SECOND * SECONDS; index += 1) {
    const dueIn = started + (index * 1_000) / PER_SECOND - performance.now()
    if (dueIn > 0) await delay(dueIn)
    sending.push(pay(pick(keys, index), pick(wallets, index), index % WALLETS))
  }
  const sendingMs = performance.now() - started
  const sent = await Promise.all(sending)
  const accepted = sent.filter((payment) => payment.status === 201)
  const times = sent.map((payment) => payment.ms).sort((left, right) => left - right)
  const lastAnswer = performance.now()
  const states = await settle(accepted)
  const settledMs = performance.now() - lastAnswer
  const transfers = await countTransfers(wallets)

  const statuses = Map.groupBy(sent, ({ status }) => status)
  const counts = [...statuses].map(([status, { length }]) => `${length} with status ${status}`)
  say(`sent ${sent.length} in ${(sendingMs / 1_000).toFixed(1)} s; responses: ${counts.join(', ')}`)
  say(`answer time: p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms, longest ${at(times, 1)} ms`)
  say(
    `confirmed ${states.confirmed}, failed ${states.failed}, pending ${states.pending}; the last was seen ${(settledMs / 1_000).toFixed(1)} s after the last answer`,
  )
  say(`transfers on the chain: ${transfers}`)
  return accepted.length === sent.length && states.confirmed === accepted.length && transfers === accepted.length
}

async function prepare(): Promise<{ wallets: string[]; keys: string[] }> {
  const slug = textAt(await control('/workspaces', { name: 'Throughput', plan: 'scale' }), 'workspace.slug')
  const wallets: string[] = []
  for (let index = 0; index < WALLETS; index += 1) {
    const made = await control(`/workspaces/${slug}/wallets`, { mode: 'test', fund_usdc: '1000' })
    wallets.push(textAt(made, 'wallet.address'))
  }
  const issueKey = async () => textAt(await control(`/workspaces/${slug}/keys`, { mode: 'test' }), 'key.secret')
  const keys = await Promise.all(Array.from({ length: KEYS }, issueKey))
  const api = createClient(sandbox.facts.base_url, pick(keys, 0))
  for (const [index, wallet] of wallets.entries()) {
    const agent_id = agentId(index)
    await api.post('/v1/agents', { id: agent_id })
    const policy = { max_per_tx_usdc: '1', daily_cap_usdc: '1000' }
    await control(`/workspaces/${slug}/grants`, { mode: 'test', agent_id, wallet, ...policy })
  }
  return { wallets, keys }
}

async function pay(key: string, wallet: string, agent: number): Promise<Sent> {
  const started = performance.now()
  const order = { agent_id: agentId(agent), wallet, to: RECIPIENT, amount_usdc: '0.01' }
  const { status, body } = await createClient(sandbox.facts.base_url, key).post('/v1/payments', order)
  return { key, status, ms: Math.round(performance.now() - started), id: textAt(body, 'payment.id') }
}

/** Waits until no payment is `pending`, for a limited time. */
async function settle(accepted: readonly Sent[]): Promise<{ confirmed: number; failed: number; pending: number }> {
  const counts = { confirmed: 0, failed: 0 }
  let waiting = [...accepted]
  const deadline = performance.now() + CONFIRMATION_MS_MAX
  while (waiting.length > 0 && performance.now() < deadline) {
    const still: Sent[] = []
    for (const payment of waiting) {
      const { body } = await createClient(sandbox.facts.base_url, payment.key).get(`/v1/payments/${payment.id}`)
      const status = textAt(body, 'payment.status')
      if (status === 'confirmed' || status === 'failed') counts[status] += 1
      else still.push(payment)
    }
    waiting = still
    if (still.length > 0) await delay(1_000)
  }
  return { ...counts, pending: waiting.length }
}

/** Counts the transfers from the wallets, directly on the chain. */
async function countTransfers(wallets: readonly string[]): Promise<number> {
  const chain = openUsdcChain(sandbox.facts.chains.test)
  const lists = await Promise.all(wallets.map((wallet) => chain.listTransfers(wallet)))
  return lists.flat().length
}

/** Calls the control API and requires success. */
async function control(path: string, body: object): Promise<Body> {
  const answer = await createClient(sandbox.facts.control_url).post(path, body)
  if (answer.status >= 300) throw new Error(`${answer.asked} got status ${answer.status}`)
  return answer.body
}

function agentId(index: number): string {
  return `agent-${index}`
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
