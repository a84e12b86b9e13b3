import { formatShortAddress } from '../format/address.ts'
import { TextLink } from './text-link.tsx'

interface CodeLinkProps {
  readonly to: string
  readonly text: string
  /** Shows only the beginning and the end. The full text is in the tooltip. */
  readonly isShort?: boolean
}

/** An ID or an address that links to its page. */
export function CodeLink({ to, text, isShort = false }: CodeLinkProps) {
  return (
    <TextLink to={to}>
      <span title={isShort ? text : undefined} className="font-mono text-[0.875em] break-all">
        {isShort ? formatShortAddress(text) : text}
      </span>
    </TextLink>
  )
}
