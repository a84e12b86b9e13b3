import { lazy, Suspense, useId } from 'react'
import { ChevronIcon } from './chevron-icon.tsx'
import { FieldError } from './field-error.tsx'
import type { SelectFieldProps } from './select-field-props.ts'
import { FIELD_CLASS } from './text-field.tsx'

/** A field with more choices than this is a combobox, in which the user types to filter the choices. */
const PLAIN_CHOICES_MAX = 50

/** The combobox is loaded when it is first needed. If loading fails, the native select is used instead. */
const ComboboxField = lazy(() =>
  import('./combobox-field.tsx').then(
    (module) => ({ default: module.ComboboxField }),
    () => ({ default: PlainSelect }),
  ),
)

/** A field to pick one of several choices. */
export function SelectField(props: SelectFieldProps) {
  if (props.choices.length <= PLAIN_CHOICES_MAX) return <PlainSelect {...props} />
  return (
    <Suspense fallback={<PlainSelect {...props} />}>
      <ComboboxField {...props} />
    </Suspense>
  )
}

/** The native select: it works best with keyboards, screen readers and phones. */
function PlainSelect(props: SelectFieldProps) {
  const { label, value, choices, placeholder, hint, isLabelHidden = false, isRequired = false, error, onChange } = props
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`].join(' ').trim()
  return (
    <div className="grid min-w-0 grid-cols-1 gap-1.5">
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'font-semibold'}>
        {label}
      </label>
      <div className="relative">
        <select
          id={id}
          value={value}
          required={isRequired}
          aria-describedby={described === '' ? undefined : described}
          aria-invalid={error === undefined ? undefined : true}
          className={`${FIELD_CLASS} appearance-none truncate pr-10`}
          onChange={(event) => onChange(event.target.value)}
        >
          {placeholder !== undefined && value === '' && (
            <option value="" disabled>
              {placeholder}
            </option>
          )}
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.text}
            </option>
          ))}
        </select>
        <ChevronIcon className="pointer-events-none absolute top-1/2 right-3.5 size-3 -translate-y-1/2 text-muted" />
      </div>
      {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}
