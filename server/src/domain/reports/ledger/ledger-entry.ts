import { idBoundary } from '../../../values/ids.ts'
import type { Deposit } from '../../deposits/deposit.ts'
import type { Payment } from '../../payments/payment.ts'

export const LEDGER_ENTRY_TYPES = ['payment', 'deposit', 'withdrawal'] as const

export type LedgerEntryType = (typeof LEDGER_ENTRY_TYPES)[number]

/** A movement of USDC into or out of a wallet (D53). A payment that is pending or failed is an entry too. */
export type LedgerEntry = Payment | Deposit

/** How many entries a page of the ledger has at most, and by default. */
export const LEDGER_PAGE_MAX = 100
export const LEDGER_PAGE_DEFAULT = 50

export function ledgerEntryType(entry: LedgerEntry): LedgerEntryType {
  if (!('kind' in entry)) return 'deposit'
  return entry.kind === 'withdrawal' ? 'withdrawal' : 'payment'
}

/**
 * A place in the order of the ledger: newest first, and entries of the same millisecond by their ids, highest first.
 * The entries after a position are older, or have the same time and a lower id.
 */
export interface LedgerPosition {
  readonly createdAt: Date
  /** The id of an entry, or an empty text, which is lower than every id. */
  readonly id: string
}

/** Compares two entries for a list with the newest first. */
export function compareNewestFirst(left: LedgerPosition, right: LedgerPosition): number {
  const elapsedMs = right.createdAt.getTime() - left.createdAt.getTime()
  if (elapsedMs !== 0) return elapsedMs
  return left.id === right.id ? 0 : left.id < right.id ? 1 : -1
}

/** A part of the ledger: the entries that come after the position `after` and are not older than `from`. */
export interface LedgerRange {
  readonly from: Date
  readonly after: LedgerPosition
}

/** All ids of one kind in a range, from `from` (inclusive) to `below` (exclusive). */
export interface IdRange {
  readonly from: string
  readonly below: string
}

/**
 * Returns the range of the ids of agents' payments in this part of the ledger. A payment of an agent gets its id and
 * `created_at` at the same time, and ids sort by time (D18b), so the order of these ids is the order of the ledger.
 */
export function paymentIdsOf({ from, after }: LedgerRange): IdRange {
  const boundary = idBoundary('payment', after.createdAt)
  // The id of `after` may be too low to be the bound: the id of a withdrawal may be older than the withdrawal, and the
  // id of a deposit is lower than the id of every payment. Then the bound is the time of `after`.
  return { from: idBoundary('payment', from), below: after.id > boundary ? after.id : boundary }
}

/** Returns the ids of the deposits in the range. A deposit gets its id and `created_at` at the same time. */
export function depositIdsOf({ from, after }: LedgerRange): IdRange {
  const { createdAt, id } = after
  const next = new Date(createdAt.getTime() + 1)
  // At the same millisecond, every deposit comes after every payment, because its id is lower.
  const boundary = idBoundary('deposit', id === '' ? createdAt : next)
  return { from: idBoundary('deposit', from), below: id.startsWith('dep_') ? id : boundary }
}
