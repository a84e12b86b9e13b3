import { Link, type LinkProps } from 'react-router'
import { buttonClass } from './button.tsx'

interface ButtonLinkProps extends Omit<LinkProps, 'className'> {
  readonly variant?: Parameters<typeof buttonClass>[0]
}

/** A link that looks like a button. */
export function ButtonLink({ variant = 'plain', ...rest }: ButtonLinkProps) {
  return <Link {...rest} className={buttonClass(variant)} />
}
