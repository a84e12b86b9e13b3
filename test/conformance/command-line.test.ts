import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { openHome, parseOne, type CliResult, type Home, type StartedCli } from '../../cli/test/support/run-cli.ts'
import { readSessionFile, sessionPath } from '../../cli/test/support/session-file.ts'
import { openSharedAgentHost, type AgentHost } from '../support/sandbox/agent-host.ts'
import { makeAddress } from '../support/sandbox/payer-fixture.ts'
import { call, send } from '../support/http-client.ts'

/**
 * The command line with the real service (its authorization server, `/v1` and `/mcp`) and the seller of the sandbox.
 */
describe('the command line with the service', () => {
  let host: AgentHost
  let home: Home
  before(async () => {
    host = await openSharedAgentHost()
    home = await openHome()
    assert.equal((await signIn()).code, 0)
  })
  after(() => home.close())
  const run = (...args: string[]): Promise<CliResult> => home.run(args)
  const start = (): StartedCli => home.start(['login', host.baseUrl, '--no-browser'], { input: '' })

  /** Signs in as a person does. The control API decides on the consent page. */
  async function signIn(): Promise<CliResult> {
    const started = start()
    const callback = await host.consent(await authorizeUrlOf(started))
    assert.equal((await send(callback.origin, { path: callback.pathname + callback.search })).status, 200)
    return await started.ended
  }

  async function authorizeUrlOf({ matched }: StartedCli): Promise<URL> {
    const [line] = await matched(/\{"authorize_url":.*\}/)
    return new URL((JSON.parse(line) as { authorize_url: string }).authorize_url)
  }

  test('from the sign-in to a confirmed payment', async () => {
    const { me } = parseOne((await run('me')).stdout) as { me: Record<string, unknown> }
    assert.deepEqual([me['auth_type'], me['agent_id'], me['mode']], ['oauth', host.workspace.agent_id, 'test'])
    const to = makeAddress()
    const args = ['pay', to, '0.25', '--idempotency-key', 'command-line-1', '--wait']
    const [first, again] = [await run(...args), await run(...args)]
    assert.deepEqual([first.code, again.code], [0, 0], first.stderr + again.stderr)
    const [paid, replay] = [parseOne(first.stdout), parseOne(again.stdout)]
    assert.equal((paid['payment'] as { status: string }).status, 'confirmed')
    assert.deepEqual([paid['replayed'], replay['replayed'], replay['payment']], [false, true, paid['payment']])
    const transfers = await host.chain.listTransfers(host.workspace.wallets.test)
    assert.equal(transfers.filter((transfer) => transfer.to === to.toLowerCase()).length, 1)
  })

  /** Creates an agent that may buy, and returns the environment in which commands act as this agent. */
  async function createBuyer(): Promise<{ env: Record<string, string>; options: string[] }> {
    const { slug, keys } = host.workspace
    const agentId = `buyer-${randomUUID()}`
    assert.equal(
      (await call(host.baseUrl, 'POST', '/v1/agents', { key: keys.test, body: { id: agentId } })).status,
      201,
    )
    const { wallet } = await host.control(`/workspaces/${slug}/wallets`, { mode: 'test', fund_usdc: '5' })
    const grant = { mode: 'test', agent_id: agentId, wallet: wallet.address, x402: true }
    await host.control(`/workspaces/${slug}/grants`, { ...grant, max_per_tx_usdc: '1', daily_cap_usdc: '1' })
    return { env: { BURSAR_URL: host.baseUrl, BURSAR_API_KEY: keys.test }, options: ['--agent', agentId] }
  }

  test('a purchase: first the price, then the goods, and the same goods again for the same key', async () => {
    const { env, options } = await createBuyer()
    const buy = (...args: string[]): Promise<CliResult> => home.run(['fetch', ...options, ...args], { env })
    const { resource } = (await host.control('/seller/resources', { price_usdc: '0.05' })) as unknown as {
      resource: { id: string; url: string }
    }
    const { url } = resource
    const price = parseOne((await buy(url)).stdout)['price'] as { price_usdc: string; allowed: object }
    assert.deepEqual([price.price_usdc, price.allowed], ['0.05', { ...price.allowed, allowed: true }])
    const tooLittle = await buy('--pay', '--max', '0.01', url)
    assert.equal(tooLittle.code, 4)
    const args = ['--pay', '--max', '0.05', '--idempotency-key', 'command-line-2', url]
    const [first, again] = [await buy(...args), await buy(...args)]
    assert.deepEqual([first.code, again.code], [0, 0], first.stderr)
    assert.ok(first.stdout.length > 0)
    assert.equal(again.stdout, first.stdout)
    const idOf = ({ stderr }: CliResult): string => (parseOne(stderr)['payment'] as { id: string }).id
    assert.equal(idOf(again), idOf(first))
  })

  test('several processes whose token has expired keep the session', async () => {
    const stored = await readSessionFile(home, host.baseUrl)
    await writeFile(
      sessionPath(home, host.baseUrl),
      JSON.stringify({ ...stored, expiresAt: new Date(0).toISOString() }),
    )
    const codes = (await Promise.all(Array.from({ length: 3 }, () => run('me')))).map(({ code }) => code)
    assert.deepEqual(codes, [0, 0, 0])
    const renewed = await readSessionFile(home, host.baseUrl)
    assert.notEqual(renewed.refreshToken, stored.refreshToken)
    assert.equal((await run('me')).code, 0)
  })

  test('the doctor finds nothing wrong', async () => {
    const result = await run('doctor')
    assert.equal(result.code, 0, result.stdout)
    const { checks } = parseOne(result.stdout) as { checks: { name: string }[] }
    const names = ['address', 'file', 'service', 'clock', 'credential', 'scopes', 'agent', 'wallets']
    assert.deepEqual(
      checks.map(({ name }) => name),
      names,
    )
  })

  test('an answer that does not belong to the sign-in changes nothing, and a denial is exit code 3', async () => {
    const started = start()
    const { searchParams } = await authorizeUrlOf(started)
    const redirect = new URL(String(searchParams.get('redirect_uri')))
    const answer = async (fields: Record<string, string>, host?: string): Promise<number> => {
      const path = `${redirect.pathname}?${new URLSearchParams(fields).toString()}`
      return (await send(redirect.origin, { path, ...(host === undefined ? {} : { host }) })).status
    }
    const denial = { error: 'access_denied', state: String(searchParams.get('state')), iss: host.authUrl }
    assert.equal(await answer({ ...denial, state: 'another' }), 400)
    assert.equal(await answer({ ...denial, iss: 'https://evil.example.com' }), 400)
    assert.equal(await answer(denial, 'evil.example.com'), 404)
    assert.equal(await answer(denial), 400)
    const { code, stderr } = await started.ended
    assert.equal(code, 3)
    assert.match(stderr, /access was denied/)
    assert.equal((await run('me')).code, 0, 'the earlier sign-in still works')
  })

  const transports = {
    '@modelcontextprotocol/client, which discovers': () => connectClient('auto'),
    '@modelcontextprotocol/client, which initializes': () => connectClient('legacy'),
    '@modelcontextprotocol/sdk': connectEarlierClient,
  }
  for (const [name, connect] of Object.entries(transports)) {
    test(`${name}: pays through the bridge`, async () => {
      const client = await connect()
      const { tools } = await client.listTools()
      assert.ok(tools.some((tool) => tool.name === 'send_payment'))
      const args = { to: makeAddress(), amount_usdc: '0.01', purchase_id: `bridge ${name}` }
      const result = await client.callTool({ name: 'send_payment', arguments: args })
      assert.notEqual(result.isError, true, JSON.stringify(result))
      const wrong = await client.callTool({ name: 'send_payment', arguments: { ...args, amount_usdc: 'much' } })
      assert.equal(wrong.isError, true)
      await client.close()
    })
  }

  async function connectClient(mode: 'auto' | 'legacy'): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StdioClientTransport(parameters()))
    return client
  }

  async function connectEarlierClient(): Promise<EarlierClient> {
    const client = new EarlierClient({ name: 'test', version: '1' })
    await client.connect(new EarlierTransport(parameters()))
    return client
  }

  function parameters(): { command: string; args: string[]; env: Record<string, string> } {
    return { command: process.execPath, args: [home.program, 'mcp'], env: { ...home.env, PATH: '' } }
  }

  test('a new sign-in ends the one before it, and signing out ends the connection', async () => {
    const before = (await readSessionFile(home, host.baseUrl)).accessToken
    assert.equal((await signIn()).code, 0)
    const now = (await readSessionFile(home, host.baseUrl)).accessToken
    assert.deepEqual([await host.statusOfMe(before), await host.statusOfMe(now)], [401, 200])
    assert.equal((await run('logout')).code, 0)
    assert.equal(await host.statusOfMe(now), 401)
    assert.equal((await run('me')).code, 3)
  })
})
