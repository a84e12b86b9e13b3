import type { ListedPayment } from '../../purchases/purchase-summary.ts'
import type { Facts } from '../conditions/conditions.ts'
import type { CapUse, WalletFunds } from '../funds/funds.ts'

export const CAPS_SHOWN_MAX = 8
export const PAYMENTS_SHOWN_MAX = 5

/** Which steps of the setup are done. */
export interface Steps {
  readonly wallet: boolean
  readonly deposit: boolean
  readonly agent: boolean
  /** A grant that an owner has signed. */
  readonly grant: boolean
  readonly key: boolean
  readonly payment: boolean
}

export interface Overview {
  /** What the conditions are decided from, without what depends on the reader. */
  readonly facts: Omit<Facts, 'unsigned'>
  readonly wallets: readonly WalletFunds[]
  /** The grants that used the largest share of their 24-hour limits, and how many there are in all. */
  readonly caps: readonly CapUse[]
  readonly capsCount: number
  readonly payments: readonly ListedPayment[]
  readonly steps: Steps
}
