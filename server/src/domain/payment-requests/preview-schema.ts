import { Type, type Static } from 'typebox'
import type { ProblemType } from '../../values/problem.ts'
import { isoTime, orNull, usdc } from '../../values/schema-fields.ts'
import type { AdmissionRefusal } from './admission-refusal.ts'
import type { PublicPayment } from '../payments/payment-schema.ts'

/**
 * The schema of the preview of a payment (D55): one of three shapes, by `allowed` and `existing_payment`. The schema
 * `PaymentRefusal` is in the contract of `/v1`, which has a schema for each error.
 */
export const PreviewSchema = Type.Union(
  [
    Type.Object(
      {
        allowed: Type.Literal(true),
        existing_payment: Type.Null({ description: 'The request would create a new payment.' }),
        grant_id: Type.String({ description: 'The grant that allows the payment.' }),
        expires_at: orNull(isoTime('When the grant expires. Null if it has no end date.')),
        max_per_tx_usdc: usdc('The per-payment limit.'),
        daily_cap_usdc: usdc('The 24-hour limit: the most that the agent may spend in any 24 hours.'),
        spent_24h_usdc: usdc('What the agent has spent from the wallet in the last 24 hours.'),
        remaining_24h_usdc: usdc('What remains of the 24-hour limit before this payment.'),
        remaining_24h_after_usdc: usdc('What would remain of the 24-hour limit after this payment.'),
        balance_usdc: usdc("The wallet's balance on the chain."),
        pending_usdc: usdc('The sum of the payments that are reserved but not yet subtracted from this balance.'),
        available_usdc: usdc('What can be paid from the wallet: the balance minus these payments.'),
      },
      { title: 'AllowedPreview', description: 'The service would create the payment.' },
    ),
    Type.Object(
      { allowed: Type.Literal(true), existing_payment: Type.Unsafe<PublicPayment>(Type.Ref('Payment')) },
      {
        title: 'ReplayPreview',
        description: 'The idempotency_key belongs to an existing payment: the request would return it and pay nothing.',
      },
    ),
    Type.Object(
      {
        allowed: Type.Literal(false),
        error: Type.Unsafe<AdmissionRefusal & { readonly type: ProblemType; readonly message: string }>(
          Type.Ref('PaymentRefusal'),
        ),
      },
      { title: 'RefusedPreview', description: 'The service would reject the request.' },
    ),
  ],
  { $id: 'PaymentPreview', title: 'PaymentPreview' },
)

export type PublicPreview = Static<typeof PreviewSchema>
