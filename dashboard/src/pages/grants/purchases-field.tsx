import { useId } from 'react'
import type { GrantDraft } from '../../format/grant-draft.ts'

interface PurchasesFieldProps {
  readonly draft: GrantDraft
  readonly onChange: (change: Partial<GrantDraft>) => void
}

/** Whether the grant allows purchases, and what the owner should know about their limits. */
export function PurchasesField({ draft, onChange }: PurchasesFieldProps) {
  const id = useId()
  return (
    <fieldset>
      <legend className="pb-1.5 font-semibold">Purchases</legend>
      <div className="flex items-start gap-3">
        <input
          id={id}
          name="x402"
          type="checkbox"
          className="mt-1 size-4.5 shrink-0 accent-accent"
          aria-describedby={`${id}-meaning`}
          checked={draft.allowsPurchases}
          onChange={(event) => onChange({ allowsPurchases: event.currentTarget.checked })}
        />
        <div className="grid gap-1.5">
          <label htmlFor={id}>The agent may buy from websites that ask to be paid (x402 and MPP)</label>
          <p id={`${id}-meaning`} className="text-sm text-muted">
            The limits apply to purchases in the same way as to other payments. The enclave, which holds the wallet’s
            keys, enforces the per-payment limit, the recipients, the token and the end date. Only this service enforces
            the 24-hour limit for purchases. When the agent buys something, the website gets a signature. With it, the
            website can take the price once, at any time in the next 5 minutes, even if you revoke the grant meanwhile.
          </p>
        </div>
      </div>
    </fieldset>
  )
}
