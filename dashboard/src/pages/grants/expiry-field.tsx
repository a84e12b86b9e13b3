import { useState } from 'react'
import { RadioGroupField } from '../../components/radio-group-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useNow } from '../../components/use-now.ts'
import { formatLocal, type GrantDraft } from '../../format/grant-draft.ts'

interface ExpiryFieldProps {
  readonly draft: GrantDraft
  readonly error: string | undefined
  readonly onChange: (change: Partial<GrantDraft>) => void
}

const CHOICES = [
  { value: 'never', text: 'No end date', days: null },
  { value: '1', text: 'In 1 day', days: 1 },
  { value: '7', text: 'In 7 days', days: 7 },
  { value: '30', text: 'In 30 days', days: 30 },
  { value: 'other', text: 'Custom…', days: null },
] as const

const DAYS_SUGGESTED = 7
const MINUTE_MS = 60_000

/** When a grant expires. */
export function ExpiryField({ draft, error, onChange }: ExpiryFieldProps) {
  const [value, setValue] = useState<string>(draft.hasNoEndDate ? 'never' : 'other')
  const nowMs = useNow(MINUTE_MS)
  const choose = (picked: string) => {
    setValue(picked)
    const days = CHOICES.find((choice) => choice.value === picked)?.days ?? null
    if (days !== null) onChange({ hasNoEndDate: false, until: formatLocal(inDays(days)) })
    else if (picked === 'never' || draft.until !== '') onChange({ hasNoEndDate: picked === 'never' })
    else onChange({ hasNoEndDate: false, until: formatLocal(inDays(DAYS_SUGGESTED)) })
  }
  return (
    <div className="grid gap-4">
      <RadioGroupField label="End date" value={value} choices={CHOICES} onChange={choose} />
      {value === 'other' && (
        <div className="max-w-xs">
          <TextField
            name="expires_at"
            label="Date and time (your time zone)"
            type="datetime-local"
            min={formatLocal(new Date(nowMs))}
            value={draft.until}
            error={error}
            onChange={(event) => onChange({ until: event.currentTarget.value })}
          />
        </div>
      )}
    </div>
  )
}

/** The same time of day, counted in calendar days: with a daylight saving change, a day may have 23 hours. */
function inDays(days: number): Date {
  const at = new Date()
  at.setDate(at.getDate() + days)
  return at
}
