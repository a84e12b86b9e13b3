import { useId } from 'react'
import { useNavigate } from 'react-router'
import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import { Button } from '../../components/button.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { readFormText } from '../../components/read-form-text.ts'
import { SegmentedLinks } from '../../components/segmented-links.tsx'
import { FIELD_CLASS } from '../../components/text-field.tsx'
import { PERIOD_CHOICES, toSearch, type Choice } from './period.ts'

interface PeriodPickerProps {
  readonly choice: Choice
  /** The days of the current period, with which the date fields begin. */
  readonly days: Spending['days'] | undefined
}

/** Links to calendar periods, and two dates for any other period. The URL contains the choice. */
export function PeriodPicker({ choice, days }: PeriodPickerProps) {
  const id = useId()
  const navigate = useNavigate()
  const segments = PERIOD_CHOICES.map(({ period, text }) => ({
    text,
    to: toSearch({ period, by: choice.by }),
    isCurrent: period === choice.period,
  }))
  const submit = (form: HTMLFormElement) => {
    const [from, to] = [readFormText(form, 'from'), readFormText(form, 'to')].toSorted()
    if (from === undefined || to === undefined || from === '') return
    void navigate(toSearch({ period: 'custom', from, to, by: choice.by }), { preventScrollReset: true })
  }
  return (
    <div className="grid min-w-0 gap-1">
      <SegmentedLinks label="Period" segments={segments} />
      <Disclosure summary="Other dates">
        <form
          key={`${days?.from ?? ''} ${days?.to ?? ''}`}
          className="flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            submit(event.currentTarget)
          }}
        >
          <div className="grid gap-1">
            <label htmlFor={`${id}-from`} className="text-sm font-semibold">
              First day
            </label>
            <input
              id={`${id}-from`}
              name="from"
              type="date"
              required
              defaultValue={days?.from}
              className={FIELD_CLASS}
            />
          </div>
          <div className="grid gap-1">
            <label htmlFor={`${id}-to`} className="text-sm font-semibold">
              Last day
            </label>
            <input id={`${id}-to`} name="to" type="date" required defaultValue={days?.to} className={FIELD_CLASS} />
          </div>
          <Button type="submit">Show</Button>
        </form>
      </Disclosure>
    </div>
  )
}
