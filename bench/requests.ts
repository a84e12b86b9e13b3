import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, textAt, type Body } from '../sandbox/src/demo/http-client.ts'
import { startSandbox, type Sandbox } from '../sandbox/src/start-sandbox.ts'
import { findFreePorts, makeDataDir } from '../sandbox/src/throw-away-sandbox.ts'
import { startCountingProxy, type CountingProxy } from './counting-proxy.ts'

/**
 * `npm run bench:requests [-- milliseconds]` counts how many requests the server sends to the enclave per payment, and
 * to the chain per minute. It counts them in proxies. A block is mined every 2 seconds, as on Base. With the argument,
 * the enclave does not return a payment's transaction hash until that many milliseconds after the send. Without the
 * argument, the local enclave's profile decides when the hash is returned.
 */
const BLOCK_MS = 2_000
const MINUTE_MS = 60_000
const PER_SECOND = 10
const KEYS = 40
const SETTLE_MS_MAX = 60_000
const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'
const ENCLAVE_OFFSET = 3
const CHAIN_OFFSET = 4

const hashAfterMs = Number(process.argv[2] ?? 0)
/** While true, the chain returns no receipts, so payments with a hash stay pending while new blocks are mined. */
let receiptsAreHidden = false
const sentAt = new Map<string, number>()

const [port, dataDir] = await Promise.all([findFreePorts(), makeDataDir()])
const enclave = await startCountingProxy(() => port + ENCLAVE_OFFSET, {
  classify: nameOfEnclaveRequest,
  rewrite: holdHash,
})
const chain = await startCountingProxy(() => port + CHAIN_OFFSET, {
  classify: namesOfChainRequest,
  rewrite: hideReceipts,
})
let sandbox: Sandbox | undefined
const blocks = new AbortController()
try {
  sandbox = await startSandbox({
    port,
    dataDir,
    durable: false,
    enclaveUrl: enclave.url,
    serverEnv: { TEST_RPC_URLS: chain.url },
  })
  await measure(sandbox)
} finally {
  blocks.abort()
  await sandbox?.stop()
  await Promise.all([enclave.close(), chain.close()])
  await rm(dataDir, { recursive: true, force: true })
}

async function measure({ facts }: Sandbox): Promise<void> {
  say(`hash of a send: ${hashAfterMs === 0 ? 'as the local enclave gives it' : `after ${hashAfterMs} ms`}`)
  const control = async (path: string, body: object): Promise<Body> => {
    const answer = await createClient(facts.control_url).post(path, body)
    if (answer.status >= 300) throw new Error(`${answer.asked} got status ${answer.status}`)
    return answer.body
  }
  const slug = textAt(await control('/workspaces', { name: 'Requests', plan: 'scale' }), 'workspace.slug')
  const wallet = textAt(
    await control(`/workspaces/${slug}/wallets`, { mode: 'test', fund_usdc: '1000' }),
    'wallet.address',
  )
  const keys: string[] = []
  for (let index = 0; index < KEYS; index += 1) {
    keys.push(textAt(await control(`/workspaces/${slug}/keys`, { mode: 'test' }), 'key.secret'))
  }
  const [key = ''] = keys
  await createClient(facts.base_url, key).post('/v1/agents', { id: 'agent' })
  const policy = { max_per_tx_usdc: '1', daily_cap_usdc: '1000' }
  await control(`/workspaces/${slug}/grants`, { mode: 'test', agent_id: 'agent', wallet, ...policy })
  /**
   * Creates a payment and returns its id. Returns null if the service did not accept it, which can happen on a busy
   * machine.
   */
  const pay = async (payingKey: string): Promise<string | null> => {
    const order = { agent_id: 'agent', wallet, to: RECIPIENT, amount_usdc: '0.01' }
    const { status, body } = await createClient(facts.base_url, payingKey).post('/v1/payments', order)
    return status === 201 ? textAt(body, 'payment.id') : null
  }
  /** Each read uses the next API key, because a key may make only 60 reads a minute. */
  const isConfirmed = async (id: string, reading: number): Promise<boolean> => {
    const { body } = await createClient(facts.base_url, keys[reading % KEYS] ?? key).get(`/v1/payments/${id}`)
    return textAt(body, 'payment.status') === 'confirmed'
  }

  await control('/chains/test', { mining: false })
  void (async () => {
    while (!blocks.signal.aborted) {
      await delay(BLOCK_MS)
      await control('/chains/test', { mine: 1 }).catch(() => undefined)
    }
  })()

  await delay(BLOCK_MS)
  resetAll()
  await delay(MINUTE_MS)
  show('one minute without payments', { payments: 0 })

  resetAll()
  const started = performance.now()
  const paying: Promise<string | null>[] = []
  for (let index = 0; index < (PER_SECOND * MINUTE_MS) / 1_000; index += 1) {
    const dueIn = started + (index * 1_000) / PER_SECOND - performance.now()
    if (dueIn > 0) await delay(dueIn)
    paying.push(pay(keys[index % KEYS] ?? key))
  }
  const ids = (await Promise.all(paying)).filter((id) => id !== null)
  say(`${ids.length} of ${paying.length} payments were accepted`)
  show(`one minute with ${PER_SECOND} payments a second`, { payments: ids.length })
  const deadline = performance.now() + SETTLE_MS_MAX
  let readings = 0
  for (const id of ids) {
    while (!(await isConfirmed(id, readings++)) && performance.now() < deadline) await delay(BLOCK_MS)
  }
  show('the same, until all were confirmed', { payments: ids.length })

  receiptsAreHidden = true
  resetAll()
  await pay(keys[1] ?? key)
  await delay(MINUTE_MS)
  show('one minute with one payment that has a hash and is in no block', { payments: 1 })
}

function nameOfEnclaveRequest({ method, path }: { method: string; path: string }): string[] {
  if (method === 'POST' && path.endsWith('/rpc')) return ['sends']
  if (path.includes('reference_id=')) return ['look-ups by reference']
  return [path.startsWith('/v1/transactions') ? 'look-ups by id' : 'others']
}

/** Returns one name for the HTTP request, and one for each JSON-RPC call in it. */
function namesOfChainRequest({ body }: { body: string }): string[] {
  const calls = [JSON.parse(body) as unknown].flat() as { method: string }[]
  return ['HTTP requests', ...calls.map(({ method }) => method)]
}

interface Transaction {
  id?: string
  transaction_id?: string
  transaction_hash?: string | null
  hash?: string
  status?: string
}

function holdHash({ method, path }: { method: string; path: string }, answer: string): string {
  if (hashAfterMs === 0 || !/\/rpc$|^\/v1\/transactions/.test(path)) return answer
  const body = JSON.parse(answer) as { data?: Transaction; transactions?: Transaction[] } & Transaction
  if (method === 'POST' && body.data?.transaction_id !== undefined) {
    sentAt.set(body.data.transaction_id, performance.now())
    body.data.hash = ''
  }
  for (const transaction of body.transactions ?? [body]) {
    const sent = sentAt.get(transaction.id ?? '')
    if (sent === undefined || performance.now() - sent >= hashAfterMs) continue
    transaction.transaction_hash = null
    transaction.status = 'pending'
  }
  return JSON.stringify(body)
}

function hideReceipts({ body }: { body: string }, answer: string): string {
  if (!receiptsAreHidden) return answer
  const calls = [JSON.parse(body) as unknown].flat() as { id: unknown; method: string }[]
  const hidden = new Set(calls.flatMap(({ id, method }) => (method === 'eth_getTransactionReceipt' ? [id] : [])))
  const told = JSON.parse(answer) as { id: unknown } | { id: unknown }[]
  const hide = (one: { id: unknown }): { id: unknown } =>
    hidden.has(one.id) ? ({ ...one, result: null } as never) : one
  return JSON.stringify(Array.isArray(told) ? told.map(hide) : hide(told))
}

function resetAll(): void {
  enclave.reset()
  chain.reset()
}

function show(title: string, { payments }: { payments: number }): void {
  say(title)
  const list = (proxy: CountingProxy): string =>
    [...proxy.counts()]
      .sort(([, left], [, right]) => right - left)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none'
  const total = [...enclave.counts().values()].reduce((sum, count) => sum + count, 0)
  say(`  provider: ${list(enclave)}${payments === 0 ? '' : `; ${(total / payments).toFixed(2)} a payment`}`)
  say(`  chain: ${list(chain)}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
