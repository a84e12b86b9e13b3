import { RadioGroupField } from '../../components/radio-group-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useNow } from '../../components/use-now.ts'
import { endIn, formatLocal, NEW_GRANT_DAYS, type GrantDraft } from '../../format/grant-draft.ts'

interface ExpiryFieldProps {
  readonly draft: GrantDraft
  readonly error: string | undefined
  readonly onChange: (change: Partial<GrantDraft>) => void
}

const NEVER = 'never'
const CUSTOM = 'custom'
const CHOICES = [
  { value: '1', text: 'In 1 day' },
  { value: '7', text: 'In 7 days' },
  { value: String(NEW_GRANT_DAYS), text: `In ${NEW_GRANT_DAYS} days` },
  { value: CUSTOM, text: 'Custom…' },
  { value: NEVER, text: 'No end date' },
]

const DAYS_SUGGESTED = 7
const MINUTE_MS = 60_000

/** When a grant expires. */
export function ExpiryField({ draft, error, onChange }: ExpiryFieldProps) {
  const nowMs = useNow(MINUTE_MS)
  const { hasNoEndDate, endsInDays, until } = draft
  // An error is always about the typed date, so the field for this date is shown with it.
  const isCustom = endsInDays === null || error !== undefined
  const value = hasNoEndDate ? NEVER : isCustom ? CUSTOM : String(endsInDays)
  const choose = (picked: string) => {
    if (picked === NEVER) onChange({ hasNoEndDate: true, endsInDays: null })
    else if (picked !== CUSTOM) onChange(endIn(Number(picked), new Date()))
    else onChange({ ...(until === '' ? endIn(DAYS_SUGGESTED, new Date()) : { hasNoEndDate: false }), endsInDays: null })
  }
  return (
    <div className="grid gap-4">
      <RadioGroupField label="End date" value={value} choices={CHOICES} onChange={choose} />
      {value === CUSTOM && (
        <div className="max-w-xs">
          <TextField
            name="expires_at"
            label="Date and time (your time zone)"
            type="datetime-local"
            min={formatLocal(new Date(nowMs))}
            value={until}
            error={error}
            onChange={(event) => onChange({ until: event.currentTarget.value, endsInDays: null })}
          />
        </div>
      )}
      {value === NEVER && (
        <p className="text-sm text-muted">Without an end date, the agent can pay until somebody stops the grant.</p>
      )}
    </div>
  )
}
