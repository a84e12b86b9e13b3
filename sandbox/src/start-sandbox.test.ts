import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { addressesFrom } from './addresses.ts'
import { send } from '../../test/support/http-client.ts'
import { callRpcString } from './chain/call-rpc.ts'
import { createClient, textAt } from './demo/http-client.ts'
import { isProcessAlive } from './lib/process-facts.ts'
import { checkPorts } from './processes/check-ports.ts'
import { startSandbox, type Sandbox } from './start-sandbox.ts'
import { startThrowAwaySandbox, type ThrowAwaySandbox } from './throw-away-sandbox.ts'

const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
const HOUR_MS = 60 * 60 * 1_000

let first: ThrowAwaySandbox
before(async () => {
  first = await startThrowAwaySandbox()
})
after(() => first.remove())

async function pay({ facts }: Sandbox, amount: string, key: string, baseUrl = facts.base_url) {
  const { keys, wallets, agent_id } = facts.workspace
  const order = { agent_id, wallet: wallets.test, to: SHOP, amount_usdc: amount, idempotency_key: key }
  return await createClient(baseUrl, keys.test).post('/v1/payments', order)
}

/** Reads the balance of the test wallet on the chain, in micro-USDC. */
async function readBalance({ facts }: Sandbox): Promise<bigint> {
  const data = `0x70a08231${facts.workspace.wallets.test.slice(2).padStart(64, '0')}`
  return BigInt(
    await callRpcString(facts.chains.test.rpc_url, 'eth_call', [{ to: facts.chains.test.usdc, data }, 'latest']),
  )
}

it('writes its facts into a private file', async () => {
  const file = join(first.dataDir, 'sandbox.json')
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), first.facts)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

it('serves the signer page on a host of its own, and nothing else there', async () => {
  const { port } = new URL(first.facts.auth_url)
  const get = async (path: string, host: string) => (await send(`http://127.0.0.1:${port}`, { path, host })).status
  const signer = `signer.localhost:${port}`
  assert.deepEqual([await get('/', signer), await get('/main.js', signer)], [200, 200])
  assert.deepEqual([await get('/healthz', signer), await get('/console/session', signer)], [404, 404])
  assert.equal(await get('/main.js', `localhost:${port}`), 404)
})

it('continues with the same payment after its server was killed', async () => {
  const paid = await pay(first, '2', 'before')
  const pid = first.serverPid()
  await first.killServer('SIGKILL')
  await assert.rejects(pay(first, '2', 'before'))
  await first.startServer()
  assert.notEqual(first.serverPid(), pid)
  const replayed = await pay(first, '2', 'before')
  assert.equal(textAt(replayed.body, 'payment.id'), textAt(paid.body, 'payment.id'))
})

it('adds a second server on the same database and with the same clock', async () => {
  const second = await first.addServer({ port: 0 })
  const paid = await pay(first, '1', 'shared', second.baseUrl)
  assert.equal(paid.status, 201)
  const replayed = await pay(first, '1', 'shared')
  assert.equal(textAt(replayed.body, 'payment.id'), textAt(paid.body, 'payment.id'))

  await createClient(first.facts.control_url).post('/clock', { advance_seconds: 3_600 })
  const { body } = await pay(first, '1', 'later', second.baseUrl)
  assert.ok(Date.parse(textAt(body, 'payment.created_at')) - Date.now() > HOUR_MS / 2)
  await second.stop()
  assert.equal(isProcessAlive(second.pid), false)
})

it('stops everything, and continues with its data at the second start', async () => {
  const pid = first.serverPid()
  const { keys } = first.facts.workspace
  const { body: known } = await pay(first, '1', 'later')
  await createClient(first.facts.control_url).post('/chains/test', { mine: 1 })
  assert.equal(await readBalance(first), 996_000_000n)
  await Promise.all([first.stop(), first.stop()])
  assert.equal(isProcessAlive(pid), false)
  await checkPorts(addressesFrom(first.port).ports)
  await assert.rejects(stat(join(first.dataDir, 'sandbox.json')), { code: 'ENOENT' })

  const second = await startSandbox({ port: first.port, dataDir: first.dataDir })
  try {
    assert.deepEqual(second.facts, first.facts)
    const { body } = await createClient(second.facts.control_url).get('/')
    assert.ok(Date.parse(String(body['now'])) - Date.now() > HOUR_MS / 2, 'the clock stays where it was moved to')
    const again = await createClient(second.facts.base_url, keys.test).get(
      `/v1/payments/${textAt(known, 'payment.id')}`,
    )
    assert.equal(textAt(again.body, 'payment.tx_hash'), textAt(known, 'payment.tx_hash'))
    assert.equal(await readBalance(second), 996_000_000n)
    assert.equal((await pay(second, '1', 'after')).status, 201)
  } finally {
    await second.stop()
  }
})
