import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from '../../../sandbox/src/seller/behaviour.ts'
import { startThrowAwaySandbox, type ThrowAwayOptions } from '../../../sandbox/src/throw-away-sandbox.ts'
import { call, type JsonAnswer } from '../http-client.ts'
import { createPayer, makeKeys, type PayerFixture } from '../sandbox/payer-fixture.ts'
import { findSandboxDatabase } from '../sandbox/sandbox-database.ts'
import type { SandboxFixture } from '../sandbox/sandbox-fixture.ts'
import { FEW_SLOTS } from '../few-slots.ts'
import { createResource, readCounters, type SoldResource } from '../sandbox/seller.ts'
import { openUsdcChain } from '../sandbox/usdc-chain.ts'
import { waitFor } from '../wait-for.ts'
import { makeScenario, ORDERED, readGoods, type Goods, type Scenario, type ShownAnswer } from './purchase-scenarios.ts'
import { createRandom } from './random.ts'

export interface PurchaseRunOptions {
  readonly purchases: number
  readonly kills: number
  /** One server, or two on one database. The first one is killed. */
  readonly servers: 1 | 2
  readonly seed: number
  readonly payers: number
  /** How many purchases of one payer are under way at the same time. */
  readonly lanesPerPayer: number
  /** Options of the sandbox. By default, it starts with an empty data directory and saves memory. */
  readonly sandbox?: ThrowAwayOptions
}

export interface PurchaseRun {
  /** One line for each thing that happened but must never happen. */
  readonly violations: readonly string[]
  /** The number of recorded purchases, by their final status and its reason. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly refused: number
  readonly transfers: number
  readonly kills: number
  /** The number of requests that had no usable answer, and were sent again with the same key. */
  readonly retries: number
  /** How often the payers' 24-hour windows were checked during the run. */
  readonly looks: number
  /** What agents were told, by scenario, and how often. */
  readonly told: Readonly<Record<string, number>>
}

type PurchaseFixture = Pick<SandboxFixture, 'sandbox' | 'baseUrl' | 'chains' | 'control' | 'query'>

interface Order {
  readonly payer: PayerFixture
  readonly keys: readonly string[]
  readonly resource: SoldResource
  readonly scenario: Scenario
}

interface Run {
  readonly fixture: PurchaseFixture
  readonly bases: readonly string[]
  readonly violations: Set<string>
  readonly told: Record<string, number>
  /** What the agent was told at last, by payment. */
  readonly last: Map<string, Seen>
  readonly counts: { settled: number; refused: number; retries: number; looks: number; kills: number }
  /**
   * Orders whose request was repeated. If the server was killed before it had reserved anything, the retry asks for the
   * price again. By then, the seller may demand another price, or name another payee.
   */
  readonly repeated: Set<Order>
  isOver: boolean
}

const PRICE_USDC = '0.01'
const PRICE_MICRO = 10_000n
/** The cap of a payer is this share of what its purchases cost, so that some of them are refused. */
const CAP_SHARE = 0.8
/** Each purchase is one request, and a second one that repeats it. A key may pay 30 times a minute. */
const PURCHASES_PER_KEY = 5
const RETRY_DELAY_MS = 300
/** How much of an answer is shown in a violation. */
const SHOWN_CHARS = 400
const LOOK_INTERVAL_MS = 200
const SETTLE_MS_MAX = 60_000
const PROGRESS_MS_MAX = 300_000
/** A payment is reserved or refused at most this long after its time was taken. */
const RESERVED_SECONDS_MAX = 10
/** After this many seconds, every authorization of x402 has expired. */
const PAST_EVERY_AUTHORIZATION_SECONDS = 310

/**
 * Buys from the sandbox's seller, which behaves in a random way for each purchase, and kills the server with SIGKILL in
 * between. Callers repeat a request with the same idempotency key until they have an answer. They check the answer, and
 * that a further request gets the same answer or a better one. At the end, compares the chain with the service's
 * records.
 */
export async function runPurchases(options: PurchaseRunOptions): Promise<PurchaseRun> {
  const { fixture, close } = await openPurchaseFixture(options.sandbox)
  const second = options.servers === 2 ? await fixture.sandbox.addServer({ port: 0 }) : null
  const bases = [fixture.baseUrl, ...(second === null ? [] : [second.baseUrl])]
  const counts = { settled: 0, refused: 0, retries: 0, looks: 0, kills: 0 }
  const run: Run = {
    fixture,
    bases,
    counts,
    told: {},
    last: new Map(),
    violations: new Set(),
    repeated: new Set(),
    isOver: false,
  }
  try {
    const { orders, capMicro } = await makeOrders(run, options)
    const watching = watchWindows(run, capMicro)
    try {
      await Promise.all([buyAll(run, orders, options), killBetween(run, options)])
      const transfers = await checkChain(run, orders)
      await checkEveryMoment(run, capMicro)
      await checkKept(run)
      return {
        ...counts,
        transfers,
        outcomes: await countOutcomes(run),
        told: run.told,
        violations: [...run.violations],
      }
    } finally {
      run.isOver = true
      await watching
    }
  } finally {
    await second?.stop()
    await close()
  }
}

/** Starts a sandbox that only the caller uses. The caller may also be a program that is not a test. */
async function openPurchaseFixture(
  options: ThrowAwayOptions = {},
): Promise<{ fixture: PurchaseFixture; close: () => Promise<void> }> {
  const sandbox = await startThrowAwaySandbox({
    durable: true,
    enclaveProfile: 'fast',
    walletSlots: FEW_SLOTS,
    ...options,
  })
  const { base_url: baseUrl, chains, control_url: controlUrl } = sandbox.facts
  const { query } = findSandboxDatabase(sandbox)
  const control = async (path: string, body: object = {}): Promise<JsonAnswer> => {
    const answer = await call(controlUrl, 'POST', path, { body })
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  const open = { test: openUsdcChain(chains.test), live: openUsdcChain(chains.live) }
  return { fixture: { sandbox, baseUrl, chains: open, control, query }, close: () => sandbox.remove() }
}

async function makeOrders(run: Run, options: PurchaseRunOptions): Promise<{ orders: Order[][]; capMicro: bigint }> {
  const { fixture } = run
  const random = createRandom(options.seed)
  const perPayer = Math.ceil(options.purchases / options.payers)
  const capMicro = BigInt(Math.floor(perPayer * CAP_SHARE)) * PRICE_MICRO
  const terms = { maxPerTxUsdc: PRICE_USDC, dailyCapUsdc: formatMicro(capMicro), grant: { x402: true } }
  const orders: Order[][] = []
  for (let index = 0; index < options.payers; index += 1) {
    const payer = await createPayer(fixture, terms)
    const keys = await makeKeys(fixture, payer, Math.ceil(perPayer / PURCHASES_PER_KEY))
    const mine: Order[] = []
    for (let order = 0; order < perPayer; order += 1) {
      const scenario = makeScenario(random)
      const resource = await createResource(fixture, { price_usdc: PRICE_USDC, ...scenario.behaviour })
      mine.push({ payer, keys, resource, scenario })
    }
    orders.push(mine)
  }
  return { orders, capMicro }
}

function formatMicro(amount: bigint): string {
  return `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`
}

async function buyAll(run: Run, orders: readonly Order[][], { lanesPerPayer }: PurchaseRunOptions): Promise<void> {
  const lanes = orders.flatMap((mine) => {
    const left = mine.values()
    return Array.from({ length: lanesPerPayer }, async () => {
      for (const order of left) await buy(run, order)
    })
  })
  await Promise.all(lanes)
}

/** Makes one purchase, and repeats it. Checks the responses. */
async function buy(run: Run, order: Order): Promise<void> {
  const { counts, violations, told } = run
  const { title } = order.scenario
  const first = await send(run, order)
  counts.settled += 1
  if (first.status !== 200) {
    const { code = '' } = first.body.error
    counts.refused += 1
    told[`${title}: ${code}`] = (told[`${title}: ${code}`] ?? 0) + 1
    if (!isExpected(run, order, code)) violations.add(`${title}: unexpected answer: ${first.text}`)
    return
  }
  const { delivery, goods } = tell(first, order)
  told[`${title}: ${delivery}, ${goods}`] = (told[`${title}: ${delivery}, ${goods}`] ?? 0) + 1
  // After a kill, the response to the agent contains the seller's answer to a second request with the same header.
  if (!run.repeated.has(order)) checkTold(run, order, first)
  const again = await send(run, order)
  const seen = tell(again, order)
  run.last.set(seen.payment, seen)
  if (!isAsGood(tell(first, order), seen)) {
    violations.add(`${title}: a retry got less: ${shorten(first)}, then ${shorten(again)}`)
  }
}

/** Sends the request of a purchase until it has an answer. */
async function send(run: Run, order: Order): Promise<JsonAnswer> {
  const { bases, counts } = run
  const { payer, keys, resource, scenario } = order
  const { agentId, wallet } = payer
  const terms = { agent_id: agentId, wallet, max_amount_usdc: PRICE_USDC, idempotency_key: resource.id }
  const { protocol } = scenario.behaviour
  const request = {
    ...(scenario.method === 'POST' && { method: 'POST', body: ORDERED }),
    ...(protocol === 'mpp_beside_bearer' && { headers: { authorization: 'Bearer agent' } }),
  }
  for (let attempt = 0; ; attempt += 1) {
    const base = bases[attempt % bases.length] ?? ''
    const key = keys[(counts.settled + attempt) % keys.length] ?? payer.key
    const answer = await attemptCall(base, key, { url: resource.url, ...request, ...terms })
    const isFinal = answer !== null && (answer.status < 500 || answer.status === 502) && answer.status !== 429
    if (isFinal) return answer
    counts.retries += 1
    if (answer?.status !== 429) run.repeated.add(order)
    await delay(RETRY_DELAY_MS)
  }
}

interface Seen {
  readonly payment: string
  readonly delivery: string
  readonly goods: Goods | null
  readonly status: number | null
  readonly bytes: number
}

function tell({ text }: JsonAnswer, { resource, scenario }: Order): Seen {
  const { payment, delivery, response } = JSON.parse(text) as {
    payment: { id: string }
    delivery: string
    response: ShownAnswer | null
  }
  const goods = readGoods(response, { id: resource.id, method: scenario.method })
  const bytes = (response?.body ?? response?.body_base64 ?? '').length
  return { payment: payment.id, delivery, goods, status: response?.status ?? null, bytes }
}

function checkTold({ violations }: Run, order: Order, answer: JsonAnswer): void {
  const { told, title } = order.scenario
  const { delivery, goods, status } = tell(answer, order)
  const isRight =
    'delivery' in told &&
    (told.delivery === delivery || (goods === 'whole' && told.goods === 'anything')) &&
    (told.goods === goods || told.goods === 'anything') &&
    (told.status === undefined || told.status === status)
  if (!isRight)
    violations.add(`${title} (${JSON.stringify(order.scenario.behaviour)}): the agent was told ${shorten(answer)}`)
}

/** Returns whether a retry got the same purchase, and nothing less of the goods. */
function isAsGood(first: Seen, again: Seen): boolean {
  if (first.payment !== again.payment) return false
  if (first.delivery !== 'unknown') return first.delivery === again.delivery && first.bytes === again.bytes
  return (
    again.delivery === 'delivered' ||
    first.goods === 'none' ||
    (again.delivery === 'unknown' && again.bytes >= first.bytes)
  )
}

function shorten({ text }: JsonAnswer): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}...` : text
}

function isExpected(run: Run, order: Order, code: string): boolean {
  const { told } = order.scenario
  if ('code' in told && told.code === code) return true
  return code === 'daily_cap_exceeded' || (code === 'price_too_high' && mayChange(run, order, 'price_raised'))
}

function mayChange({ repeated }: Run, order: Order, fault: Fault): boolean {
  return repeated.has(order) && order.scenario.behaviour.faults?.includes(fault) === true
}

async function attemptCall(base: string, key: string, body: object): Promise<JsonAnswer | null> {
  try {
    return await call(base, 'POST', '/v1/x402/pay', { key, body })
  } catch {
    // The server was killed.
    return null
  }
}

/** Kills the first server `kills` times, after equal shares of the purchases, while other purchases are under way. */
async function killBetween({ fixture, counts }: Run, { kills, purchases }: PurchaseRunOptions): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    const share = Math.floor((purchases * kill) / (kills + 1))
    await waitFor(`${share} purchases`, () => counts.settled >= share, PROGRESS_MS_MAX)
    await fixture.sandbox.killServer('SIGKILL')
    counts.kills += 1
    await fixture.sandbox.startServer()
  }
}

/**
 * Checks the records again and again. The spending of a payer's 24-hour window may never be above the payer's cap. An
 * amount may only be given back once its authorization has expired by the chain's clock.
 */
async function watchWindows(run: Run, capMicro: bigint): Promise<void> {
  const { fixture, violations, counts } = run
  while (!run.isOver) {
    const windows = await fixture.query(
      `select wallet_address, sum(amount_micro)::text as spent from payments
        where kind = 'x402' and status <> 'failed' group by wallet_address`,
    )
    for (const { wallet_address: wallet, spent } of windows) {
      if (BigInt(String(spent)) > capMicro) violations.add(`the window of ${String(wallet)} is above its cap`)
    }
    const ended = await fixture.query(
      `select id, extract(epoch from valid_before)::text as valid_before from payments
        where kind = 'x402' and failure_code = 'authorization_expired'`,
    )
    const block = (await fixture.chains.test.call('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    for (const { id, valid_before: validBefore } of ended) {
      if (Number(block.timestamp) < Number(validBefore)) violations.add(`${String(id)} was given back too early`)
    }
    counts.looks += 1
    await delay(LOOK_INTERVAL_MS)
  }
}

/**
 * Computes, from the recorded times, what each window contained whenever an amount was reserved. An amount counts from
 * its reservation until it is given back. A run is shorter than 24 hours, so no amount leaves a window because of age.
 * The time of a payment is taken before its wallet is locked. So an amount that was given back shortly after that time
 * may have left the window before the reservation, and is not counted. `watchWindows` looks at these moments too.
 */
async function checkEveryMoment({ fixture, violations }: Run, capMicro: bigint): Promise<void> {
  const above = await fixture.query(
    `select p.id, sum(q.amount_micro)::text as spent
      from payments p
      join payments q on q.wallet_address = p.wallet_address and q.created_at <= p.created_at
        and (q.status <> 'failed' or q.settled_at > p.created_at + interval '${RESERVED_SECONDS_MAX} seconds')
      where p.kind = 'x402' group by p.id having sum(q.amount_micro) > $1`,
    [String(capMicro)],
  )
  for (const { id, spent } of above) violations.add(`${String(id)} brought its window to ${String(spent)}`)
}

/** Waits until every purchase has ended, and compares the records with the chain. Returns the number of transfers. */
async function checkChain(run: Run, orders: readonly Order[][]): Promise<number> {
  const { fixture, violations } = run
  await fixture.chains.test.call('evm_increaseTime', [PAST_EVERY_AUTHORIZATION_SECONDS])
  const countOpen = async () => (await fixture.query(`select 1 from payments where status = 'pending'`)).length
  await waitFor('every purchase has ended', async () => (await countOpen()) === 0, SETTLE_MS_MAX)
  let total = 0
  for (const mine of orders) {
    const [first] = mine
    if (first === undefined) continue
    const transfers = await fixture.chains.test.listTransfers(first.payer.wallet)
    total += transfers.length
    const records = await fixture.query(
      `select idempotency_key, status, tx_hash, to_address from payments where wallet_address = $1`,
      [first.payer.wallet],
    )
    const payees = new Set<string>()
    for (const order of mine) {
      const { resource } = order
      const known = records.filter((row) => row['idempotency_key'] === resource.id)
      const possible = mayChange(run, order, 'payee_changed') ? [resource.payTo, resource.laterPayTo] : [resource.payTo]
      const theirs = possible.map((payee) => payee.toLowerCase())
      for (const payee of theirs) payees.add(payee)
      const recorded = known.map((row) => String(row['to_address']).toLowerCase())
      if (recorded.some((payee) => !theirs.includes(payee))) violations.add(`${resource.id}: another payee`)
      const paid = transfers.filter(({ to }) => theirs.includes(to))
      if (paid.some(({ to }) => !recorded.includes(to))) violations.add(`${resource.id}: paid another than recorded`)
      const { authorizations } = await readCounters(fixture, resource)
      if (authorizations > 1) violations.add(`${resource.id}: ${authorizations} authorizations`)
      if (paid.length > 1 || known.length > 1) violations.add(`${resource.id}: ${paid.length} transfers`)
      if (paid.some(({ amountMicro }) => amountMicro !== PRICE_MICRO)) violations.add(`${resource.id}: another amount`)
      const isConfirmed = known[0]?.['status'] === 'confirmed'
      if (isConfirmed !== (paid.length === 1)) {
        violations.add(`${resource.id}: ${String(known[0]?.['status'])}, but ${paid.length} transfers`)
      }
      if (isConfirmed && known[0]?.['tx_hash'] !== paid[0]?.txHash)
        violations.add(`${resource.id}: another transaction`)
    }
    if (transfers.some(({ to }) => !payees.has(to))) violations.add(`${first.payer.wallet} paid a stranger`)
  }
  return total
}

/** Checks that what each agent was told at last is what is kept: the delivery, the status, and the sealed answer. */
async function checkKept({ fixture, violations, last }: Run): Promise<void> {
  const kept = await fixture.query(
    `select payment_id, coalesce(delivery, 'unknown') as delivery, response_status as status, responded_at,
        response_sealed is not null as is_kept from purchases`,
  )
  const rows = new Map(kept.map((row) => [String(row['payment_id']), row]))
  for (const [id, { delivery, status }] of last) {
    const row = rows.get(id)
    const hasAnswer = status !== null
    const isRight =
      row !== undefined &&
      row['delivery'] === delivery &&
      row['status'] === status &&
      row['is_kept'] === hasAnswer &&
      (row['responded_at'] !== null) === hasAnswer
    if (!isRight) violations.add(`${id}: told ${delivery}, ${status}, but kept ${JSON.stringify(row)}`)
  }
}

async function countOutcomes({ fixture }: Run): Promise<Record<string, number>> {
  const rows = await fixture.query(
    `select concat_ws(' ', status, failure_code) as outcome, count(*)::int as count from payments
      where kind = 'x402' group by 1`,
  )
  return Object.fromEntries(rows.map(({ outcome, count }) => [String(outcome), Number(count)]))
}
