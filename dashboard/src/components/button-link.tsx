import { Link, type LinkProps } from 'react-router'
import { buttonClass } from './button.tsx'

interface ButtonLinkProps extends Omit<LinkProps, 'className'> {
  readonly look?: Parameters<typeof buttonClass>[0]
}

/** A link that leads on like a button. */
export function ButtonLink({ look = 'plain', ...rest }: ButtonLinkProps) {
  return <Link {...rest} className={buttonClass(look)} />
}
