import { useId, type InputHTMLAttributes, type ReactNode } from 'react'

interface TextFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'className' | 'id' | 'name'> {
  readonly name: string
  readonly label: string
  readonly hint?: ReactNode
  readonly mono?: boolean
}

export function TextField({ label, hint, mono = false, ...rest }: TextFieldProps) {
  const id = useId()
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="font-semibold">
        {label}
      </label>
      <input
        {...rest}
        id={id}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className={`${FIELD_CLASS} ${mono ? 'font-mono' : ''}`}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

/** The look of inputs and selects. Text of 16 px keeps phones from zooming in. */
export const FIELD_CLASS =
  'min-h-11 w-full min-w-0 rounded-lg border border-edge bg-surface px-3 py-2 text-base text-ink ' +
  'disabled:cursor-not-allowed disabled:bg-sunken disabled:text-muted'
