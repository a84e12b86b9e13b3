import { formatShortAddress } from '../format/address.ts'
import { CopyButton } from './copy-button.tsx'

interface CodeTextProps {
  readonly text: string
  /** What the copy button copies, such as "the address". If this is missing, there is no copy button. */
  readonly what?: string
  /** Whether only the beginning and the end of the text are shown. The tooltip contains the full text. */
  readonly isShort?: boolean
}

/** An address, a hash or an ID, in a monospaced font. */
export function CodeText({ text, what, isShort = false }: CodeTextProps) {
  return (
    <span className="inline-flex max-w-full flex-wrap items-baseline gap-x-2">
      <code
        title={isShort ? text : undefined}
        className={`font-mono text-[0.875em] ${isShort ? 'whitespace-nowrap' : 'break-all'}`}
      >
        {isShort ? formatShortAddress(text) : text}
      </code>
      {what !== undefined && (
        <span className="text-sm">
          <CopyButton text={text} what={what} isShort />
        </span>
      )}
    </span>
  )
}
