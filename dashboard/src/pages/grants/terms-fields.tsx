import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { TextField } from '../../components/text-field.tsx'
import { formatAmount, toMicro } from '../../format/amount.ts'
import type { ParsedDraft, GrantDraft } from '../../format/grant-draft.ts'
import { ExpiryField } from './expiry-field.tsx'
import { PurchasesField } from './purchases-field.tsx'
import { RecipientsField } from './recipients-field.tsx'

interface TermsFieldsProps {
  readonly draft: GrantDraft
  readonly parsed: ParsedDraft
  /** The errors to show. Empty before the first submission. */
  readonly errors: ParsedDraft['errors']
  readonly recipients: readonly Recipient[]
  readonly onChange: (change: Partial<GrantDraft>) => void
}

/** The fields for the terms of a grant: limits, recipients, purchases and end date. */
export function TermsFields({ draft, parsed, errors, recipients, onChange }: TermsFieldsProps) {
  const { maxPerTxUsdc, dailyCapUsdc } = parsed
  const isDailyLower = maxPerTxUsdc !== null && dailyCapUsdc !== null && toMicro(dailyCapUsdc) < toMicro(maxPerTxUsdc)
  return (
    <>
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <TextField
          name="max_per_tx_usdc"
          label="Per-payment limit"
          unit="USDC"
          inputMode="decimal"
          autoComplete="off"
          placeholder="10"
          value={draft.maxPerTx}
          error={errors.max_per_tx_usdc}
          onChange={(event) => onChange({ maxPerTx: event.currentTarget.value })}
        />
        <TextField
          name="daily_cap_usdc"
          label="24-hour limit"
          unit="USDC"
          inputMode="decimal"
          autoComplete="off"
          placeholder="100"
          value={draft.dailyCap}
          error={errors.daily_cap_usdc}
          hint={
            isDailyLower
              ? `This is lower than the per-payment limit, so no payment can exceed ${formatAmount(dailyCapUsdc)} USDC.`
              : undefined
          }
          onChange={(event) => onChange({ dailyCap: event.currentTarget.value })}
        />
      </div>
      <RecipientsField draft={draft} error={errors.recipient_allowlist} recipients={recipients} onChange={onChange} />
      <PurchasesField draft={draft} onChange={onChange} />
      <ExpiryField draft={draft} error={errors.expires_at} onChange={onChange} />
    </>
  )
}
