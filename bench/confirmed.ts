import { setTimeout as delay } from 'node:timers/promises'
import { openPurchaseFixture } from '../test/support/faults/run-purchases.ts'
import { call } from '../test/support/http-client.ts'
import { createPayer, makeAddress, makeKeys, type PayerFixture } from '../test/support/sandbox/payer-fixture.ts'
import { waitFor } from '../test/support/wait-for.ts'

/**
 * `npm run bench:confirmed [-- payments at once …]` measures the time from the block with a payment's transfer until a
 * client that waits for the payment (`?wait=`) reads `confirmed`. It starts its own sandbox. The floor is a client that
 * polls the node for the receipt, at the interval of our watcher and without a database.
 */
const AT_ONCE = [1, 20, 60] as const
/** At least this many payments are measured at each level of concurrency. */
const PAYMENTS_MIN = 60
/** Below the rate limits: a key may read 60 times a minute, and pay 30 times a minute. */
const PAYMENTS_PER_KEY = 25
const PAYERS_MAX = 20
const LOOK_INTERVAL_MS = 4
/** The interval of the service's watcher. */
const FLOOR_POLL_MS = 400
const WAIT_SECONDS = 45

interface Measured {
  readonly confirmedMs: number
  readonly floorMs: number
}

const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : AT_ONCE
const { fixture, close } = await openPurchaseFixture()
const node = fixture.chains.test
/** When each block was first seen, by its number. */
const seen = new Map<number, number>()
const ending = new AbortController()
try {
  const watching = watchBlocks()
  for (const atOnce of counts) {
    const measured: Measured[] = []
    while (measured.length < PAYMENTS_MIN) measured.push(...(await payAtOnce(atOnce)))
    say(`${atOnce} at once, ${measured.length} payments: confirmed`, describe(measured.map((one) => one.confirmedMs)))
    say('  a client that polls the node', describe(measured.map((one) => one.floorMs)))
  }
  ending.abort()
  await watching
} finally {
  ending.abort()
  await close()
}

/** Makes payments of several wallets at the same time, and waits for all of them. */
async function payAtOnce(atOnce: number): Promise<Measured[]> {
  const payers = await Promise.all(
    Array.from({ length: Math.min(atOnce, PAYERS_MAX) }, async () => {
      const payer = await createPayer(fixture, { maxPerTxUsdc: '1', dailyCapUsdc: '100' })
      const perPayer = Math.ceil(atOnce / Math.min(atOnce, PAYERS_MAX))
      return { payer, keys: await makeKeys(fixture, payer, Math.ceil(perPayer / PAYMENTS_PER_KEY)) }
    }),
  )
  return await Promise.all(
    Array.from({ length: atOnce }, async (_, index) => {
      const { payer, keys } = payers[index % payers.length] ?? payers[0] ?? fail('there is no payer')
      return await payOnce(payer, keys[Math.floor(index / payers.length / PAYMENTS_PER_KEY)] ?? payer.key)
    }),
  )
}

async function payOnce({ agentId, wallet }: PayerFixture, key: string): Promise<Measured> {
  const body = { agent_id: agentId, wallet, to: makeAddress(), amount_usdc: '0.01' }
  const paid = await call(fixture.baseUrl, 'POST', '/v1/payments', { key, body })
  if (paid.status !== 201) throw new Error(paid.text)
  const { id, tx_hash: hash } = paid.body.payment
  const floor = hash === null ? Promise.resolve(Number.NaN) : pollReceipt(hash)
  const read = await call(fixture.baseUrl, 'GET', `/v1/payments/${id}?wait=${WAIT_SECONDS}`, { key })
  const confirmedMs = performance.now()
  const { status, tx_hash: finalHash } = read.body.payment
  if (status !== 'confirmed' || finalHash === null) throw new Error(read.text)
  const receipt = (await node.call('eth_getTransactionReceipt', [finalHash])) as { blockNumber: string }
  const block = Number(receipt.blockNumber)
  const minedMs = await waitFor('the block is seen', () => seen.get(block))
  return { confirmedMs: confirmedMs - minedMs, floorMs: (await floor) - minedMs }
}

async function pollReceipt(hash: string): Promise<number> {
  // Clients begin at different times within an interval.
  await delay(Math.random() * FLOOR_POLL_MS)
  while ((await node.call('eth_getTransactionReceipt', [hash])) === null) await delay(FLOOR_POLL_MS)
  return performance.now()
}

async function watchBlocks(): Promise<void> {
  while (!ending.signal.aborted) {
    const number = Number(await node.call('eth_blockNumber', []))
    for (let block = number; block > 0 && !seen.has(block); block -= 1) seen.set(block, performance.now())
    await delay(LOOK_INTERVAL_MS)
  }
}

function describe(durations: readonly number[]): string {
  const sorted = durations.filter((one) => !Number.isNaN(one)).toSorted((one, other) => one - other)
  const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(0)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

function say(what: string, figures: string): void {
  process.stdout.write(`${what.padEnd(50)} ${figures}\n`)
}

function fail(reason: string): never {
  throw new Error(reason)
}
