import { Children, type ButtonHTMLAttributes } from 'react'
import { formatBusy } from '../format/busy-text.ts'
import { BusyLabel } from './busy-label.tsx'

type ButtonVariant = 'primary' | 'plain' | 'danger' | 'quiet'

const SHAPE =
  'inline-flex min-h-11 items-center justify-center gap-2 rounded-lg px-4 py-2 text-center font-semibold leading-tight ' +
  'transition-colors ' +
  'aria-disabled:cursor-not-allowed aria-disabled:border-line aria-disabled:bg-sunken aria-disabled:text-muted'

const VARIANTS: Readonly<Record<ButtonVariant, string>> = {
  primary: 'border border-transparent bg-accent text-on-accent hover:bg-accent-strong',
  plain: 'border border-edge bg-surface text-ink hover:bg-sunken',
  danger: 'border border-transparent bg-danger text-on-danger hover:bg-danger-strong',
  quiet: 'border border-transparent bg-transparent text-accent hover:bg-accent-soft',
}

/** Returns the CSS classes of a button, for links that look like buttons. */
export function buttonClass(variant: ButtonVariant): string {
  return `${SHAPE} ${VARIANTS[variant]}`
}

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className'> {
  readonly variant?: ButtonVariant
  readonly wide?: boolean
  /** Whether the action of the button is running. The button then says so, and is disabled. */
  readonly isBusy?: boolean
}

/**
 * A button. While disabled it ignores clicks and announces that it is disabled, but stays focusable, so that keyboard
 * users do not lose their place.
 */
export function Button({
  variant = 'plain',
  wide = false,
  type = 'button',
  disabled = false,
  isBusy = false,
  onClick,
  children,
  ...rest
}: ButtonProps) {
  const isOff = disabled || isBusy
  const label = Children.toArray(children)
    .filter((part) => typeof part === 'string')
    .join('')
  return (
    <>
      <button
        {...rest}
        type={type}
        aria-disabled={isOff || rest['aria-disabled']}
        // `preventDefault` keeps a disabled submit button from submitting its form, also when the user presses Enter in a
        // field.
        onClick={isOff ? (event) => event.preventDefault() : onClick}
        className={`${buttonClass(variant)} ${wide ? 'w-full' : ''}`}
      >
        {isBusy ? <BusyLabel label={label} /> : children}
      </button>
      {/* Screen readers do not announce that the label of a button has changed. */}
      {isBusy && (
        <span role="status" className="sr-only">
          {formatBusy(label)}
        </span>
      )}
    </>
  )
}
