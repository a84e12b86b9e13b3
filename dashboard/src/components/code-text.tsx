import { formatShortAddress } from '../format/address.ts'
import { CopyButton } from './copy-button.tsx'

interface CodeTextProps {
  readonly text: string
  /** What it is, for the button that copies it: "the address". Without it there is no such button. */
  readonly what?: string
  /** Head and tail only, with the whole at hand. */
  readonly isShort?: boolean
}

/** An address, a hash or an id, letter by letter. */
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
