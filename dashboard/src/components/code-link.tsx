import { formatShortAddress } from '../format/address.ts'
import { TextLink } from './text-link.tsx'

interface CodeLinkProps {
  readonly to: string
  readonly text: string
  /** Head and tail only, with the whole at hand. */
  readonly isShort?: boolean
}

/** An id, an address or the like that leads to its page. */
export function CodeLink({ to, text, isShort = false }: CodeLinkProps) {
  return (
    <TextLink to={to}>
      <span title={isShort ? text : undefined} className="font-mono text-[0.875em] break-all">
        {isShort ? formatShortAddress(text) : text}
      </span>
    </TextLink>
  )
}
