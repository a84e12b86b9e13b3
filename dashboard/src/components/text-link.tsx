import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link, type LinkProps } from 'react-router'

const LINK =
  'rounded-sm font-semibold text-accent underline decoration-1 underline-offset-4 hover:decoration-2 ' +
  'disabled:cursor-not-allowed disabled:text-muted'

/** A link within text. */
export function TextLink(props: Omit<LinkProps, 'className'>) {
  return <Link {...props} className={LINK} />
}

/** A link that opens a program on the user's computer. */
export function ProgramLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <a href={href} className={LINK}>
      {children}
    </a>
  )
}

/** A button that looks like a text link, for actions that are not navigation. */
export function TextButton(props: Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className' | 'type'>) {
  return <button {...props} type="button" className={`${LINK} py-1`} />
}
