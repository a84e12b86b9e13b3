import type { ButtonHTMLAttributes } from 'react'

type ButtonLook = 'primary' | 'plain' | 'danger' | 'quiet'

const SHAPE =
  'inline-flex min-h-11 items-center justify-center gap-2 rounded-lg px-4 py-2 text-center font-semibold leading-tight ' +
  'transition-colors disabled:cursor-not-allowed disabled:border-line disabled:bg-sunken disabled:text-muted ' +
  'aria-disabled:cursor-not-allowed aria-disabled:border-line aria-disabled:bg-sunken aria-disabled:text-muted'

const LOOKS: Readonly<Record<ButtonLook, string>> = {
  primary: 'border border-transparent bg-accent text-on-accent hover:bg-accent-strong',
  plain: 'border border-edge bg-surface text-ink hover:bg-sunken',
  danger: 'border border-transparent bg-danger text-on-danger hover:bg-danger-strong',
  quiet: 'border border-transparent bg-transparent text-accent hover:bg-accent-soft',
}

/** The classes of a button, for a link that leads on like one. */
export function buttonClass(look: ButtonLook): string {
  return `${SHAPE} ${LOOKS[look]}`
}

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className'> {
  readonly look?: ButtonLook
  readonly wide?: boolean
}

export function Button({ look = 'plain', wide = false, type = 'button', ...rest }: ButtonProps) {
  return <button {...rest} type={type} className={`${buttonClass(look)} ${wide ? 'w-full' : ''}`} />
}
