import { Fragment } from 'react'
import { formatShortAddress } from '../format/address.ts'
import { splitEvenly } from '../format/split-evenly.ts'
import { CopyButton } from './copy-button.tsx'

interface CodeTextProps {
  readonly text: string
  /** What the copy button copies, such as "the address". If this is missing, there is no copy button. */
  readonly what?: string
  /** Whether only the beginning and the end of the text are shown. The tooltip contains the full text. */
  readonly isShort?: boolean
}

/**
 * An address, a hash or an ID, in a monospaced font. If it does not fit on a line, it is broken into lines of equal
 * length, and the copy button stays beside it.
 */
export function CodeText({ text, what, isShort = false }: CodeTextProps) {
  return (
    <span className="inline-flex max-w-full items-baseline gap-x-2">
      <code
        title={isShort ? text : undefined}
        className={`font-mono text-[0.875em] ${isShort ? 'whitespace-nowrap' : 'wrap-break-word'}`}
      >
        {isShort
          ? formatShortAddress(text)
          : splitEvenly(text).map((part, index) => (
              // The parts of one text never change their order.
              // oxlint-disable-next-line react/no-array-index-key
              <Fragment key={index}>
                {index > 0 && <wbr />}
                {part}
              </Fragment>
            ))}
      </code>
      {what !== undefined && (
        <span className="text-sm">
          <CopyButton text={text} what={what} isShort />
        </span>
      )}
    </span>
  )
}
