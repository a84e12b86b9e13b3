import type { Address } from '../../../values/address.ts'
import type { MicroUsdc } from '../../../values/money.ts'
import type { FailureCode, PaymentKind, PaymentStatus } from '../../payments/payment.ts'

/** A kind of payment, or `undelivered`: the purchases that were paid and not delivered (D70a). */
export type PaymentKindFilter = PaymentKind | 'undelivered'

/** The conditions for the payments in a list. A missing field sets no condition. */
export interface PaymentFilter {
  readonly agentId?: string | undefined
  readonly wallet?: Address | undefined
  readonly recipient?: Address | undefined
  readonly status?: PaymentStatus | undefined
  readonly failureCode?: FailureCode | undefined
  readonly kind?: PaymentKindFilter | undefined
  /** Only payments of this amount or more, and of `maxMicro` or less. */
  readonly minMicro?: MicroUsdc | undefined
  readonly maxMicro?: MicroUsdc | undefined
  /** Only payments that were created at this time or later. */
  readonly from?: Date | undefined
  /** Only payments that were created before this time. */
  readonly to?: Date | undefined
  /** A text that a user typed. `parseSearch` decides what it means. */
  readonly search?: string | undefined
}
