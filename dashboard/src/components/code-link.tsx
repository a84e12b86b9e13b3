import { formatShortAddress } from '../format/address.ts'
import { TextLink } from './text-link.tsx'

interface CodeLinkProps {
  readonly to: string
  readonly text: string
  /** Whether only the beginning and the end of the text are shown. The tooltip contains the full text. */
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
