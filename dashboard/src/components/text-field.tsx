import { useId, type InputHTMLAttributes, type ReactNode } from 'react'
import { FieldError } from './field-error.tsx'

interface TextFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'className' | 'id' | 'name'> {
  readonly name: string
  readonly label: string
  readonly hint?: ReactNode
  readonly mono?: boolean
  /** The error message for the current value. */
  readonly error?: string | undefined
  /** The unit of the value, shown at the end of the field. */
  readonly unit?: string
}

export function TextField({ label, hint, mono = false, error, unit, ...rest }: TextFieldProps) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`].join(' ').trim()
  return (
    <div className="grid min-w-0 grid-cols-1 gap-1.5">
      <label htmlFor={id} className="font-semibold">
        {label}
      </label>
      <div className="relative">
        <input
          {...rest}
          id={id}
          aria-describedby={described === '' ? undefined : described}
          aria-invalid={error === undefined ? undefined : true}
          className={`${FIELD_CLASS} ${mono ? 'font-mono' : ''} ${unit === undefined ? '' : 'pr-16'}`}
        />
        {unit !== undefined && (
          <span className="pointer-events-none absolute inset-y-0 right-3 flex items-center text-sm text-muted">
            {unit}
          </span>
        )}
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

/** The classes of inputs and selects. With text of at least 16 px, phones do not zoom in on focus. */
export const FIELD_CLASS =
  'min-h-11 w-full min-w-0 rounded-lg border border-edge bg-surface px-3 py-2 text-base text-ink ' +
  'disabled:cursor-not-allowed disabled:bg-sunken disabled:text-muted aria-invalid:border-danger'
