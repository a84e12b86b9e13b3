import type { Database } from '../../db/database.ts'
import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { windowStart } from '../grants/spent-window.ts'
import type { Context, LedgerMemory } from '../context.ts'
import { addToAllowance, lockFreeAllowances } from '../plans/plans-store.ts'
import { appendEvents } from '../webhooks/append-event.ts'
import { insertPayments } from '../payments/payments-store.ts'
import { lockFreeGrants, readFactsOfMany } from './admission-store.ts'
import {
  decideReading,
  mayBePaid,
  type AdmissionReading,
  type FundedRequest,
  type TimedRequest,
} from './read-admission.ts'
import {
  allowanceMonthOf,
  makeReservation,
  toMemory,
  type NewReservation,
  type Reservation,
} from './reserve-payment.ts'

/** A request that waits for its decision, and the context that is used to decide it. */
export interface WaitingRequest {
  readonly ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'enclave' | 'ledger'>
  readonly funded: FundedRequest
}

/** `apart` means that the batch has recorded nothing for the request, and that `reservePayment` must decide it. */
export type BatchedReservation = Reservation | { readonly kind: 'apart' }

interface Batched extends TimedRequest {
  readonly waiting: WaitingRequest
  readonly month: string | null
}

export const APART = { kind: 'apart' } as const

/**
 * Does what `reservePayment` does, for several requests in one transaction with two round trips. Returns the result of
 * each request. No two requests may share a wallet or an idempotency key, because each request is decided without the
 * others. Live payments of one workspace are counted in the allowance one after the other.
 *
 * Takes the locks that `reservePayment` takes, in an order that is the same for all batches, but does not wait for a
 * lock that is not free. A request is `apart` if one of its locks was not free. A request is also `apart` if it needs
 * more than these two round trips: its grant or its allowance was not found, a payment has its idempotency key, the
 * 24-hour limit refuses it, or the database has lost a payment of this process.
 *
 * If the transaction fails, nothing is recorded for any request. Throws `CommitUnknown` if that is not certain.
 */
export async function reservePayments(
  db: Database,
  requests: readonly WaitingRequest[],
): Promise<ReadonlyMap<WaitingRequest, BatchedReservation>> {
  const ordered = requests.toSorted((one, other) => (lockKey(one) < lockKey(other) ? -1 : 1))
  const ledger = ordered[0]?.ctx.ledger ?? null
  const newest = ledger?.newestPayment ?? null
  const results = await db.transaction(async (transaction) => {
    const batch = ordered.map((waiting): Batched => {
      const now = waiting.ctx.clock.now()
      const { funded } = waiting
      return { ...funded, waiting, now, month: allowanceMonthOf(funded.request.mode, now) }
    })
    const { readings, used } = await lockAndReadFree(transaction, batch, newest)
    const decisions = batch.map((item, index) => decide(item, readings[index] ?? null, used))
    await transaction.commit(storeAll(decisions))
    return new Map(decisions.map(({ waiting, reservation }) => [waiting, reservation]))
  })
  const reserved = [...results.values()].findLast(({ kind }) => kind === 'reserved')
  if (ledger !== null && reserved?.kind === 'reserved') ledger.newestPayment = toMemory(reserved.payment)
  return results
}

/** Every batch locks in the order of these keys. */
function lockKey({ funded: { request } }: WaitingRequest): string {
  return `${request.accountId} ${request.mode} ${request.wallet}`
}

interface Decision {
  readonly waiting: WaitingRequest
  readonly reservation: BatchedReservation
  /** What is stored for the request; null if it was not allowed. */
  readonly made: NewReservation | null
}

/** Returns the statements that store the reservations of a batch. */
function storeAll(decisions: readonly Decision[]): Query<unknown>[] {
  const made = decisions.flatMap((decision) => decision.made ?? []).toSorted(compareKeys)
  if (made.length === 0) return []
  const payments = Map.groupBy(made, ({ row: { payment } }) => `${payment.accountId} ${payment.allowanceMonth}`)
  const counts = [...payments.values()].flatMap((together) => {
    const { accountId = '', allowanceMonth = null } = together[0]?.row.payment ?? {}
    return allowanceMonth === null ? [] : [addToAllowance(accountId, allowanceMonth, together.length)]
  })
  return [
    insertPayments(made.map(({ row }) => row)),
    ...made.flatMap(({ purchase }) => purchase),
    ...appendEvents(made.map(({ event }) => event)),
    ...counts,
  ]
}

/**
 * The order in which payments are inserted. A batch waits if another process is inserting one of its idempotency keys.
 * All batches insert keys in the same order, so no two batches wait for each other.
 */
function compareKeys({ row: { payment: one } }: NewReservation, { row: { payment: other } }: NewReservation): number {
  const [key, otherKey] = [one.idempotencyKey ?? '', other.idempotencyKey ?? '']
  return key === otherKey ? 0 : key < otherKey ? -1 : 1
}

/** How much of each allowance is used, by account and month. It includes the payments that the batch has allowed. */
type UsedAllowances = Map<string, number>

function decide(item: Batched, reading: Omit<AdmissionReading, 'used'> | null, usedOf: UsedAllowances): Decision {
  const { waiting, month } = item
  const apart = { waiting, reservation: APART, made: null }
  const used = month === null ? null : usedOf.get(allowanceKey(item))
  if (reading === null || used === undefined) return apart
  if (mayBePaid(item.request, reading)) return { waiting, reservation: { kind: 'maybe_paid' }, made: null }
  const admission = decideReading(waiting.ctx, item, { ...reading, used })
  if (admission.kind === 'unexplained') return apart
  if (admission.kind !== 'allowed') return { waiting, reservation: admission, made: null }
  const made = makeReservation(waiting.ctx, { ...item, admission })
  if (used !== null) usedOf.set(allowanceKey(item), used + 1)
  const { row, signing } = made
  return { waiting, reservation: { kind: 'reserved', payment: row.payment, signing }, made }
}

function allowanceKey({ request: { accountId }, month }: Batched): string {
  return `${accountId} ${month}`
}

/**
 * Locks what is free, then reads all facts, in one round trip. Null stands for a request that must be decided apart.
 */
async function lockAndReadFree(
  transaction: Transaction,
  batch: readonly Batched[],
  newest: LedgerMemory['newestPayment'],
): Promise<{ readings: readonly (Omit<AdmissionReading, 'used'> | null)[]; used: UsedAllowances }> {
  const counted = new Map(
    batch.flatMap((item) => {
      const { month, request } = item
      return month === null ? [] : [[allowanceKey(item), { accountId: request.accountId, month }] as const]
    }),
  )
  const [grants, allowances, facts] = await transaction.batch([
    lockFreeGrants(batch.map(({ request }) => request)),
    lockFreeAllowances([...counted.values()]),
    readFactsOfMany(
      batch.map(({ request, now, balance }) => {
        return { ...request, now, windowStart: windowStart(now), balanceBlock: balance?.blockNumber ?? 0n }
      }),
      newest,
    ),
  ])
  const used: UsedAllowances = new Map()
  for (const [position, key] of [...counted.keys()].entries()) {
    const count = allowances.get(position)
    if (count !== undefined) used.set(key, count)
  }
  const readings = batch.map((_, position) => {
    const [grant, found] = [grants.get(position), facts[position]]
    return grant === undefined || found === undefined || found.isKeyUsed || !found.hasNewest
      ? null
      : { grant, existing: null, facts: found }
  })
  return { readings, used }
}
