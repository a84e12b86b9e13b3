import type { Database } from '../../db/database.ts'
import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { windowStart } from '../grants/spent-window.ts'
import type { Context, LedgerMemory } from '../context.ts'
import type { DomainEvent } from '../events/event.ts'
import { newPayment } from '../payments/new-payment.ts'
import { ATTEMPT_MS, type AgentPayment, type Payment } from '../payments/payment.ts'
import { paymentEvent } from '../payments/payment-event.ts'
import { findPaymentsByKeys, insertPayments, type NewPaymentRow } from '../payments/payments-store.ts'
import type { SigningParties } from '../payments/signing-store.ts'
import { monthOf, PLANS } from '../plans/plan.ts'
import { addToAllowance, ensureAllowance, lockAllowances, lockFreeAllowances } from '../plans/plans-store.ts'
import type { BytesReservation } from '../stored-bytes/stored-bytes.ts'
import { reserveAnswerBytes } from '../stored-bytes/stored-bytes-store.ts'
import { appendEvents } from '../webhooks/append-event.ts'
import { lockFreeGrants, lockGrants, readFacts, type FactsRead } from './admission-store.ts'
import {
  decideAdmission,
  type Allowed,
  type AdmissionDecision,
  type FundedRequest,
  type Reading,
  type TimedRequest,
} from './decide-admission.ts'

/** A request that waits for its decision, and the context that is used to decide it. */
export interface WaitingRequest {
  readonly ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'enclave' | 'ledger' | 'pools'>
  readonly funded: FundedRequest
}

export type Reservation =
  | { readonly kind: 'reserved'; readonly payment: Payment; readonly signing: SigningParties }
  /**
   * The payment may already have been made, before the database was restored from a backup (D96). Nothing was decided.
   */
  | { readonly kind: 'maybe_paid' }
  /** The database does not have the payment `missed` any more, which this process has reserved. Nothing was decided. */
  | { readonly kind: 'restored'; readonly missed: LedgerMemory['newestPayment'] }
  | Exclude<AdmissionDecision, { readonly kind: 'allowed' }>

/** `apart` means that nothing was recorded for the request, and that it must be decided again, with `waits`. */
export type BatchedReservation = Reservation | { readonly kind: 'apart' }

/**
 * Locks the wallets and the grants, checks every limit and inserts the payments, all in one transaction with two round
 * trips (D22). From then on, the payments count towards every limit. Returns the result of each request.
 *
 * With `waits`, there is one request, and the transaction waits for locks that other transactions hold. Without it,
 * there may be several, and the transaction does not wait: a request is `apart` if one of its locks was not free, or
 * its grant or its allowance was not found. That is why there are two statements for each kind of lock. Everything else
 * is the same for one request and for many, and takes as many statements.
 *
 * No two requests may share a wallet or an idempotency key, because each request is decided without the others. Live
 * payments of one workspace are counted in the allowance one after the other. All transactions take their locks in one
 * order: wallet and grant of each request, then the allowances.
 *
 * If the transaction fails, nothing is recorded for any request. Throws `CommitUnknown` if that is not certain.
 */
export async function reservePayments(
  db: Database,
  requests: readonly WaitingRequest[],
  { waits }: { waits: boolean },
): Promise<ReadonlyMap<WaitingRequest, BatchedReservation>> {
  const ordered = requests.toSorted((one, other) => (lockKey(one) < lockKey(other) ? -1 : 1))
  const [first] = ordered
  if (first === undefined) return new Map()
  const { ledger } = first.ctx
  const options = { waits, newest: ledger.newestPayment }
  const reserve = async (transaction: Transaction): Promise<Map<WaitingRequest, BatchedReservation>> => {
    const { readings, used } = await lockAndRead(transaction, ordered.map(toAsked), options)
    const decided = readings.map((reading) => decide(reading, used, options))
    await transaction.commit(storeAll(decided.flatMap(({ made }) => made ?? [])))
    return new Map(decided.map(({ waiting, reservation }) => [waiting, reservation]))
  }
  const reservations = await db.transaction(reserve, waits ? { group: first.funded.request.workspaceId } : {})
  const reserved = [...reservations.values()].findLast(({ kind }) => kind === 'reserved')
  if (reserved?.kind === 'reserved') {
    const { workspaceId, id } = reserved.payment
    ledger.newestPayment = { workspaceId, id }
  }
  return reservations
}

/** Every transaction locks in the order of these keys. */
function lockKey({ funded: { request } }: WaitingRequest): string {
  return `${request.workspaceId} ${request.mode} ${request.wallet}`
}

interface Asked extends TimedRequest {
  readonly waiting: WaitingRequest
  /** The month in whose allowance the payment counts. */
  readonly month: string | null
}

function toAsked(waiting: WaitingRequest): Asked {
  const { ctx, funded } = waiting
  const now = ctx.clock.now()
  const { mode } = funded.request
  return { ...funded, waiting, now, contract: ctx.chains[mode].usdc, month: allowanceMonthOf(mode, now) }
}

/** Returns the month in whose allowance a payment counts. Null if it counts in none, because it is a test payment. */
export function allowanceMonthOf(mode: Mode, now: Date): string | null {
  return mode === 'live' ? monthOf(now) : null
}

interface Options {
  readonly waits: boolean
  readonly newest: LedgerMemory['newestPayment']
}

/** A request and what was read for it, except for the allowance. */
type Asking = Asked & Omit<Reading, 'used'>
/** How much of each allowance is used, by workspace and month. It includes the payments that were allowed by then. */
type UsedAllowances = Map<string, number>

interface Read {
  readonly readings: readonly Asking[]
  readonly used: UsedAllowances
}

/**
 * Locks, then reads all facts, in one round trip. If the transaction waits for locks, it reads again in two cases: the
 * grant may have been replaced while it waited, which only a second read shows; and the first live payment of a month
 * makes the allowance.
 */
async function lockAndRead(transaction: Transaction, asked: readonly Asked[], options: Options): Promise<Read> {
  const first = await readOnce(transaction, asked, options)
  const unmade = asked.filter((request) => request.month !== null && !first.used.has(allowanceKey(request)))
  const isComplete =
    unmade.length === 0 && first.readings.every(({ grant, existing }) => grant !== null || existing !== null)
  if (!options.waits || isComplete) return first
  for (const { request, month } of unmade) await transaction.run(ensureAllowance(request.workspaceId, month ?? ''))
  return await readOnce(transaction, asked, options)
}

async function readOnce(transaction: Transaction, asked: readonly Asked[], { waits, newest }: Options): Promise<Read> {
  const requests = asked.map(({ request }) => request)
  const counted = new Map(
    asked.flatMap((each) => {
      const { month, request } = each
      return month === null ? [] : [[allowanceKey(each), { workspaceId: request.workspaceId, month }] as const]
    }),
  )
  const locks = [waits ? lockGrants(requests) : lockFreeGrants(requests), findPaymentsByKeys(requests)] as const
  const read = readFacts(asked.map(toFactsRead), newest)
  const allowances = [...counted.values()]
  const [grants, existing, counts, facts] =
    allowances.length === 0
      ? await transaction.batch([...locks, read]).then(([locked, found, last]) => [locked, found, null, last] as const)
      : await transaction.batch([...locks, (waits ? lockAllowances : lockFreeAllowances)(allowances), read])
  const used: UsedAllowances = new Map()
  for (const [position, key] of [...counted.keys()].entries()) {
    const count = counts?.get(position)
    if (count !== undefined) used.set(key, count)
  }
  const readings = asked.flatMap((each, position): Asking[] => {
    const [grant = null, found = null, fact] = [grants.get(position), existing.get(position), facts[position]]
    return fact === undefined ? [] : [{ ...each, grant, existing: found, facts: fact }]
  })
  return { readings, used }
}

/** Returns what the facts of a request depend on. */
export function toFactsRead({ request, balance, now }: TimedRequest): FactsRead {
  return {
    ...request,
    now,
    windowStart: windowStart(now),
    balanceBlock: 'blockNumber' in balance ? balance.blockNumber : 0n,
  }
}

function allowanceKey({ request: { workspaceId }, month }: Asked): string {
  return `${workspaceId} ${month}`
}

interface Decided {
  readonly waiting: WaitingRequest
  readonly reservation: BatchedReservation
  /** What is stored for the request. Missing if it was not allowed. */
  readonly made?: NewReservation
}

/** Decides on one request from what was read for it. Counts an allowed payment in `usedOf`. */
function decide(asking: Asking, usedOf: UsedAllowances, { waits, newest }: Options): Decided {
  const { waiting, request, month, grant, existing, facts } = asking
  const used = month === null ? null : usedOf.get(allowanceKey(asking))
  const isNew = existing === null
  if (isNew && (used === undefined || (grant === null && !waits))) return { waiting, reservation: { kind: 'apart' } }
  if (!facts.hasNewest) return { waiting, reservation: { kind: 'restored', missed: newest } }
  if (isNew && facts.hasUnexplained && request.idempotencyKey !== null && request.isLookedUp !== true)
    return { waiting, reservation: { kind: 'maybe_paid' } }
  const decision = decideAdmission(asking, { grant, existing, facts, used: used ?? null })
  if (decision.kind !== 'allowed') return { waiting, reservation: decision }
  const made = makeReservation(asking, decision)
  if (month !== null) usedOf.set(allowanceKey(asking), (used ?? 0) + 1)
  const { row, signing } = made
  return { waiting, reservation: { kind: 'reserved', payment: row.payment, signing }, made }
}

/** A reservation that is not stored yet: the payment with the limits that were checked for it, and its event. */
interface NewReservation {
  readonly row: NewPaymentRow
  /** The statements that store what a purchase adds to its payment. They run after the payment was inserted. */
  readonly purchase: readonly Query<unknown>[]
  /** The room that is reserved for the response of a seller. */
  readonly bytes: BytesReservation
  readonly event: DomainEvent
  readonly signing: SigningParties
}

function makeReservation(
  { waiting: { ctx }, request, now, month }: Asked,
  { grant, enclaveWalletId, facts, balance }: Allowed,
): NewReservation {
  const {
    workspaceId,
    mode,
    agentId,
    wallet,
    to,
    amountMicro,
    amountUsdc,
    memo,
    idempotencyKey,
    credentialId,
    requestId,
  } = request
  const fields = {
    ...{ id: createId('payment', now), workspaceId, mode, agentId, grantId: grant.grantId, walletAddress: wallet },
    ...{ to, amountMicro, amountUsdc, memo, idempotencyKey, credentialId, requestId, createdAt: now },
    allowanceMonth: month,
    firstBlock: balance.blockNumber,
  }
  const store = (payment: AgentPayment, purchase: readonly Query<unknown>[], bytes: number): NewReservation => ({
    row: { payment, admission: { ...grant, spent24hMicro: facts.spent24hMicro } },
    purchase,
    bytes: { workspaceId, mode, bytes, budgetBytes: PLANS[facts.plan].answerBytesMax[mode] },
    event: paymentEvent('payment.created', payment, now),
    signing: { enclaveWalletId, signerKey: grant.signerKey },
  })
  if (request.purchase !== undefined) {
    const signed = request.purchase.authorize({ now, grantExpiresAt: grant.expiresAt })
    const validBefore = new Date(Number(signed.validBeforeSeconds) * 1_000)
    // Only transfers use attempts. A purchase is claimed by the process that makes it, until the time in `worked_until`.
    const unused = { attemptUntil: null, requestExpiresAt: null }
    const authorization = { nonce: signed.nonce, validBefore }
    const payment = newPayment({ ...fields, ...unused, kind: 'x402', authorization })
    const { answerBytes: reservedBytes } = request.purchase
    return store(payment, request.purchase.store(payment, { authorization: signed, reservedBytes }), reservedBytes)
  }
  // We may have waited a while for the lock, so the ten seconds of the attempt start at the current time and not at
  // `now`.
  const attemptUntil = new Date(ctx.clock.now().getTime() + ATTEMPT_MS)
  const requestExpiresAt = ctx.enclave.toEnclaveTime(attemptUntil)
  return store(newPayment({ ...fields, kind: 'transfer', authorization: null, attemptUntil, requestExpiresAt }), [], 0)
}

/** Returns the statements that store the reservations. */
function storeAll(reservations: readonly NewReservation[]): Query<unknown>[] {
  if (reservations.length === 0) return []
  const made = reservations.toSorted(compareKeys)
  const payments = Map.groupBy(made, ({ row: { payment } }) => `${payment.workspaceId} ${payment.allowanceMonth}`)
  const counts = [...payments.values()].flatMap((together) => {
    const { workspaceId = '', allowanceMonth = null } = together[0]?.row.payment ?? {}
    return allowanceMonth === null ? [] : [addToAllowance(workspaceId, allowanceMonth, together.length)]
  })
  const responses = made.flatMap(({ bytes }) => (bytes.bytes === 0 ? [] : [bytes]))
  return [
    insertPayments(made.map(({ row }) => row)),
    ...made.flatMap(({ purchase }) => purchase),
    ...appendEvents(made.map(({ event }) => event)),
    ...counts,
    ...(responses.length === 0 ? [] : [reserveAnswerBytes(responses)]),
  ]
}

/**
 * The order in which payments are inserted. A transaction waits if another process is inserting one of its idempotency
 * keys. All insert keys in the same order, so no two of them wait for each other.
 */
function compareKeys({ row: { payment: one } }: NewReservation, { row: { payment: other } }: NewReservation): number {
  const [key, otherKey] = [one.idempotencyKey ?? '', other.idempotencyKey ?? '']
  return key === otherKey ? 0 : key < otherKey ? -1 : 1
}
