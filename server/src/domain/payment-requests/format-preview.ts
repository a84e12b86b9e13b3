import { formatAmount } from '../../values/money.ts'
import { refusalProblem } from '../../values/problem.ts'
import { remainingMicro } from '../grants/decide-limits.ts'
import { formatPayment } from '../payments/format-payment.ts'
import type { PublicPreview } from './preview-schema.ts'
import type { PaymentPreview } from './preview-payment.ts'

/** Formats the preview of a payment (D55). */
export function formatPreview(preview: PaymentPreview): PublicPreview {
  switch (preview.kind) {
    case 'refused': {
      const { refusal } = preview
      const { type, message } = refusalProblem(refusal)
      return { allowed: false, error: { ...refusal, type, message } }
    }
    case 'existing':
      return { allowed: true, existing_payment: formatPayment(preview.payment) }
    case 'allowed': {
      const { grant, facts, balanceMicro, amountMicro } = preview
      const { spent24hMicro, unminedMicro } = facts
      return {
        allowed: true,
        existing_payment: null,
        grant_id: grant.grantId,
        expires_at: grant.expiresAt?.toISOString() ?? null,
        max_per_tx_usdc: formatAmount(grant.maxPerTxMicro),
        daily_cap_usdc: formatAmount(grant.dailyCapMicro),
        spent_24h_usdc: formatAmount(spent24hMicro),
        remaining_24h_usdc: formatAmount(remainingMicro(grant.dailyCapMicro, spent24hMicro)),
        remaining_24h_after_usdc: formatAmount(remainingMicro(grant.dailyCapMicro, spent24hMicro + amountMicro)),
        balance_usdc: formatAmount(balanceMicro),
        pending_usdc: formatAmount(unminedMicro),
        available_usdc: formatAmount(remainingMicro(balanceMicro, unminedMicro)),
      }
    }
  }
}
