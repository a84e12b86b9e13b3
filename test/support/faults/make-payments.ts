import { setTimeout as delay } from 'node:timers/promises'
import { call, type JsonAnswer } from '../http-client.ts'
import { makeAddress } from '../sandbox/payer-fixture.ts'
import { waitForQuietChain } from './chain-transfers.ts'
import { formatUsdc, type FaultFixture } from './fault-fixture.ts'
import { createRandom, pick } from './random.ts'

export interface PaymentLoad {
  /** The number of payments to record. Payments that a limit rejects are not counted. */
  readonly payments: number
  /** The share of the enclave's sends that get a random fault. */
  readonly share: number
  readonly seed: number
  readonly callers: number
  /** The number of waves of payments. Between two waves, the sandbox's clock moves forward by `waveSeconds`. */
  readonly waves: number
  readonly waveSeconds: number
  /** Whether the clock moves forward while callers wait, so that requests without a response expire sooner. */
  readonly isHurried?: boolean
}

/** The results of all orders, from the callers' view. An order is one payment that a caller wants to make. */
export interface LoadReport {
  /** The ids of the payments that the service acknowledged, by idempotency key. */
  readonly acknowledged: Map<string, string>
  /** The number of rejected orders, by the error code of their last response. */
  readonly refusals: Map<string, number>
  /** The number of orders whose last response did not show the outcome. */
  abandoned: number
  retries: number
  orders: number
  /** The number of orders that were not rejected. */
  recorded: number
}

/** There are only a few amounts and recipients, so that some payments are equal. */
const AMOUNTS = [10_000n, 20_000n, 50_000n, 100_000n, 250_000n] as const
export const AMOUNT_MEAN = AMOUNTS.reduce((sum, amount) => sum + amount, 0n) / BigInt(AMOUNTS.length)
const RECIPIENTS = 3
/** On average, one in this many orders is never retried. The other orders are retried up to `RETRIES_MAX` times. */
const ORDERS_PER_UNRETRIED = 3
const RETRIES_MAX = 4
const RETRY_MS = 250
/** How many times, at most, a caller tries another key after a 429, and how long it waits before each try. */
const KEY_CHANGES_MAX = 400
const KEY_CHANGE_MS = 20
/**
 * A wave normally ends when it has recorded its planned number of payments. If the caps are used up, it ends when its
 * number of orders is this many times the planned number. Up to four additional waves then record the missing payments.
 */
const WAVE_ORDERS_FACTOR = 2
const WAVES_MORE_MAX = 4
/** Once in this many orders, the enclave's clock is changed, a few reads lag, and a transfer reverts. */
const UNREST_EVERY = 25
const CLOCK_SKEWS_SECONDS = [0, 0, 3, -3, 12, -12, 40, -40] as const
const LAGGING_READS = 2
/**
 * While callers wait, the clock moves forward by `HURRY_SECONDS` every `HURRY_MS`, about ten times as fast as real
 * time.
 */
const HURRY_MS = 1_500
const HURRY_SECONDS = 15

/** Makes payments with concurrent callers, while random faults occur. Resolves when all callers have finished. */
export async function makePayments(
  fixture: FaultFixture,
  load: PaymentLoad,
  onProgress: (line: string) => void = () => undefined,
): Promise<LoadReport> {
  const report: LoadReport = {
    acknowledged: new Map(),
    refusals: new Map(),
    abandoned: 0,
    retries: 0,
    orders: 0,
    recorded: 0,
  }
  const draw = createOrders(fixture, load.seed)
  await fixture.control('/enclave/faults', { fault: 'random', share: load.share, seed: load.seed })
  const perWave = Math.ceil(load.payments / load.waves)
  for (let wave = 1; wave <= load.waves + WAVES_MORE_MAX && report.recorded < load.payments; wave += 1) {
    if (wave > 1) await fixture.clock.advance(load.waveSeconds)
    const orders = Math.min(perWave, load.payments - report.recorded)
    const making = makeWave(fixture, report, { draw, callers: load.callers, orders })
    await (load.isHurried === true ? hurry(fixture, making) : making)
    onProgress(`wave ${wave}: ${report.recorded} payments of ${report.orders} orders`)
    await waitForQuietChain(fixture)
  }
  await fixture.control('/enclave/faults', { fault: 'none' })
  await fixture.control('/enclave/clock', { offset_seconds: 0 })
  return report
}

async function hurry(fixture: FaultFixture, work: Promise<void>): Promise<void> {
  const isDone = work.then(() => true)
  while (!(await Promise.race([isDone, delay(HURRY_MS, false)]))) await fixture.clock.advance(HURRY_SECONDS)
}

interface Order {
  readonly body: { readonly idempotency_key: string }
  readonly retries: number
  /**
   * If a disturbance precedes this order, the enclave's clock is off by this many seconds from then on. Otherwise null.
   */
  readonly unrest: number | null
}

function createOrders({ payers }: FaultFixture, seed: number): () => Order {
  const random = createRandom(seed)
  const recipients = Array.from({ length: RECIPIENTS }, makeAddress)
  let drawn = 0
  return () => {
    drawn += 1
    const payer = pick(payers, random)
    const body = {
      agent_id: payer.agentId,
      wallet: payer.wallet,
      to: pick(recipients, random),
      amount_usdc: formatUsdc(pick(AMOUNTS, random)),
      idempotency_key: `order-${drawn}`,
    }
    const retries = Math.floor(random() * ORDERS_PER_UNRETRIED) === 0 ? 0 : RETRIES_MAX
    return { body, retries, unrest: drawn % UNREST_EVERY === 0 ? pick(CLOCK_SKEWS_SECONDS, random) : null }
  }
}

async function makeWave(
  fixture: FaultFixture,
  report: LoadReport,
  { draw, callers, orders }: { draw: () => Order; callers: number; orders: number },
): Promise<void> {
  const recordedMax = report.recorded + orders
  const ordersMax = report.orders + WAVE_ORDERS_FACTOR * orders
  const isOver = (): boolean => report.recorded >= recordedMax || report.orders >= ordersMax
  const work = async (): Promise<void> => {
    while (!isOver()) {
      // The order is counted before its result is known. Otherwise, several callers together would start too many
      // orders.
      report.orders += 1
      report.recorded += 1
      if (!(await pay(fixture, report, draw()))) report.recorded -= 1
    }
  }
  await Promise.all(Array.from({ length: callers }, work))
}

/**
 * Pays like a caller that retries with the same idempotency key while the outcome is unknown. Returns whether a payment
 * was recorded.
 */
async function pay(fixture: FaultFixture, report: LoadReport, { body, retries, unrest }: Order): Promise<boolean> {
  if (unrest !== null) await disturb(fixture, unrest)
  let answer = await send(fixture, body)
  const isRecorded = answer.status === 201 || answer.status >= 500
  for (let left = retries; answer.status >= 500 && left > 0; left -= 1) {
    report.retries += 1
    await delay(RETRY_MS)
    answer = await send(fixture, body)
  }
  if (answer.status === 201) {
    report.acknowledged.set(body.idempotency_key, answer.body.payment.id)
  } else {
    const code = answer.body.error.code ?? answer.body.error.type
    report.refusals.set(code, (report.refusals.get(code) ?? 0) + 1)
    if (isRecorded) report.abandoned += 1
  }
  return isRecorded
}

/** Sends a request. Each request uses the next key, because a key may make only 30 payment requests a minute. */
async function send(fixture: FaultFixture, body: object): Promise<JsonAnswer> {
  for (let changes = 0; ; changes += 1) {
    const answer = await call(fixture.sandbox.facts.base_url, 'POST', '/v1/payments', { key: fixture.takeKey(), body })
    if (answer.status !== 429 || changes >= KEY_CHANGES_MAX) return answer
    await delay(KEY_CHANGE_MS)
  }
}

async function disturb(fixture: FaultFixture, offsetSeconds: number): Promise<void> {
  await fixture.control('/enclave/clock', { offset_seconds: offsetSeconds })
  await fixture.control('/enclave/faults', { fault: 'reads_lag', count: LAGGING_READS })
  await fixture.control('/chains/test', { fail_transfers: 1 })
}
