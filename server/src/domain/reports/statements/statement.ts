import type { Address } from '../../../values/address.ts'
import type { Month } from '../../months/month.ts'

/**
 * What can change a wallet's balance, or its native coins. A `failed_payment` moved no USDC, but its wallet paid for
 * gas. An `unexplained_transfer` left the wallet although no payment explains it.
 */
export const MOVEMENT_TYPES = [
  'payment',
  'purchase',
  'withdrawal',
  'deposit',
  'failed_payment',
  'unexplained_transfer',
] as const

export type MovementType = (typeof MOVEMENT_TYPES)[number]

/** A movement of USDC into or out of a wallet, or gas that the wallet paid, in a block of the month. */
export interface Movement extends MovementPosition {
  readonly type: MovementType
  /** When the service saw the movement at the confirmation depth. The time of the block if it is unexplained. */
  readonly confirmedAt: Date
  readonly inMicro: bigint
  readonly outMicro: bigint
  /** What the wallet paid for gas, in wei. Null if it paid none. */
  readonly gasWei: bigint | null
  readonly counterparty: Address
  readonly txHash: string | null
  /** Null if the movement is a deposit, or unexplained. */
  readonly paymentId: string | null
  readonly agentId: string | null
  readonly memo: string | null
}

/**
 * A place in the order of a statement: by block, and within a block by id. The ids of deposits are the lowest, so no
 * balance in between is negative.
 */
export interface MovementPosition {
  readonly blockNumber: bigint
  readonly id: string
}

export function compareMovements(left: MovementPosition, right: MovementPosition): number {
  if (left.blockNumber !== right.blockNumber) return left.blockNumber < right.blockNumber ? -1 : 1
  return left.id === right.id ? 0 : left.id < right.id ? -1 : 1
}

/** How many movements of a type a statement has, and their sums. */
export interface MovementSum {
  readonly type: MovementType
  readonly movements: number
  readonly amountMicro: bigint
  readonly gasWei: bigint
}

export interface Totals {
  readonly inMicro: bigint
  readonly outMicro: bigint
  readonly gasWei: bigint
  readonly movements: number
}

export function addSums(sums: readonly MovementSum[]): Totals {
  const total = { inMicro: 0n, outMicro: 0n, gasWei: 0n, movements: 0 }
  for (const { type, movements, amountMicro, gasWei } of sums) {
    total[type === 'deposit' ? 'inMicro' : 'outMicro'] += amountMicro
    total.gasWei += gasWei
    total.movements += movements
  }
  return total
}

/**
 * Where a balance comes from. `chain`: a node reported it for the block. `created`: the wallet was created in this
 * month, so it began with nothing. `computed`: no node had the state of the block any more, so the movements were added
 * to another balance, or the month is not over.
 */
export const BALANCE_SOURCES = ['chain', 'created', 'computed'] as const

export interface StatementBalance {
  readonly micro: bigint
  readonly source: (typeof BALANCE_SOURCES)[number]
  /** The block after which the wallet has this balance. Null if the month is not over, or the wallet did not exist. */
  readonly block: bigint | null
}

/**
 * `open`: the month is not over. `settling`: the month is over, but some of its blocks are still being read, or one of
 * its payments is pending. `closed`: the statement does not change any more.
 */
export const STATEMENT_STATES = ['open', 'settling', 'closed'] as const

export type StatementState = (typeof STATEMENT_STATES)[number]

/** The statement of a wallet and a month in UTC (D90). */
export interface Statement {
  readonly wallet: Address
  readonly walletName: string
  readonly month: Month
  readonly state: StatementState
  readonly range: MonthRange
  readonly opening: StatementBalance
  readonly closing: StatementBalance
  readonly sums: readonly MovementSum[]
  readonly totals: Totals
  /** The payments that were requested before the month's end and are still pending, at most `UNSETTLED_COUNTED_MAX`. */
  readonly pending: number
  /**
   * By how much the closing balance exceeds the opening balance and the movements. Null if one of the balances was
   * computed, because there is nothing to compare then.
   */
  readonly differenceMicro: bigint | null
}

export const UNSETTLED_COUNTED_MAX = 1_000
/** A statement with more movements is not exported. */
export const MOVEMENTS_MAX = 1_000_000

/** Blocks of the chain, and the times between which they were mined. `toBlock` is null if the month is not over. */
export interface MonthRange {
  readonly fromBlock: bigint
  readonly toBlock: bigint | null
  readonly from: Date
  readonly to: Date
}

/** A balance that is known without the movements of the month. */
type KnownBalance = StatementBalance & { readonly source: 'chain' | 'created' }

/**
 * Completes the balances of a statement: computes the one that is unknown from the other one. `earlierMicro` is the
 * opening balance as the movements before the month result in it. It is only used if both balances are unknown.
 */
export function completeBalances({
  opening,
  closing,
  earlierMicro,
  range,
  netMicro,
}: {
  readonly opening: KnownBalance | null
  readonly closing: KnownBalance | null
  readonly earlierMicro: bigint | null
  readonly range: Pick<MonthRange, 'fromBlock' | 'toBlock'>
  readonly netMicro: bigint
}): Pick<Statement, 'opening' | 'closing' | 'differenceMicro'> {
  const compute = (micro: bigint, block: bigint | null): StatementBalance => ({ micro, source: 'computed', block })
  const openingMicro = opening?.micro ?? (closing === null ? (earlierMicro ?? 0n) : closing.micro - netMicro)
  const result = {
    opening: opening ?? compute(openingMicro, range.fromBlock - 1n),
    closing: closing ?? compute(openingMicro + netMicro, range.toBlock),
  }
  const isKnown = opening !== null && closing !== null
  return { ...result, differenceMicro: isKnown ? closing.micro - opening.micro - netMicro : null }
}
