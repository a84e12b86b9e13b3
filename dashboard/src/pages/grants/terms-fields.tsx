import type { Recipient } from '../../api/wire-spending.ts'
import { TextField } from '../../components/text-field.tsx'
import { formatAmount, toMicro } from '../../format/amount.ts'
import type { DraftReading, GrantDraft } from '../../format/grant-draft.ts'
import { EndField } from './expiry-field.tsx'
import { RecipientsField } from './recipients-field.tsx'

interface TermsFieldsProps {
  readonly draft: GrantDraft
  readonly reading: DraftReading
  /** What is wrong, as far as it is time to say so. */
  readonly faults: DraftReading['faults']
  readonly recipients: readonly Recipient[]
  readonly onChange: (change: Partial<GrantDraft>) => void
}

/** The terms of a grant: how much, to whom, until when. */
export function TermsFields({ draft, reading, faults, recipients, onChange }: TermsFieldsProps) {
  const { maxPerTxUsdc, dailyCapUsdc } = reading
  const isCapSmaller = maxPerTxUsdc !== null && dailyCapUsdc !== null && toMicro(dailyCapUsdc) < toMicro(maxPerTxUsdc)
  return (
    <>
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <TextField
          name="max_per_tx_usdc"
          label="Most per payment"
          unit="USDC"
          inputMode="decimal"
          autoComplete="off"
          placeholder="10"
          value={draft.maxPerTx}
          fault={faults.max_per_tx_usdc}
          onChange={(event) => onChange({ maxPerTx: event.currentTarget.value })}
        />
        <TextField
          name="daily_cap_usdc"
          label="Most in 24 hours"
          unit="USDC"
          inputMode="decimal"
          autoComplete="off"
          placeholder="100"
          value={draft.dailyCap}
          fault={faults.daily_cap_usdc}
          hint={
            isCapSmaller
              ? `Below the most per payment, so no payment can exceed ${formatAmount(dailyCapUsdc)} USDC.`
              : undefined
          }
          onChange={(event) => onChange({ dailyCap: event.currentTarget.value })}
        />
      </div>
      <RecipientsField draft={draft} fault={faults.recipient_allowlist} recipients={recipients} onChange={onChange} />
      <EndField draft={draft} fault={faults.expires_at} onChange={onChange} />
    </>
  )
}
