import { CopyButton } from './copy-button.tsx'

interface CodeBlockProps {
  /** The caption, which is also the accessible name. */
  readonly what: string
  /** What the button copies, such as "the command" in the label "Copy the command". */
  readonly copied: string
  readonly code: string
}

/** A command, a request body or a program, with a button that copies it. */
export function CodeBlock({ what, copied, code }: CodeBlockProps) {
  return (
    <figure className="grid min-w-0 gap-1">
      <figcaption className="flex items-center justify-between gap-4 text-sm text-muted">
        <span>{what}</span>
        <CopyButton text={code} what={copied} isShort />
      </figcaption>
      <pre
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it can scroll, so it must be reachable by keyboard
        tabIndex={0}
        role="region"
        aria-label={what}
        className="max-h-[36rem] overflow-auto rounded-lg border border-line bg-sunken p-4 font-mono text-[0.8125rem] leading-relaxed"
      >
        <code>{code}</code>
      </pre>
    </figure>
  )
}
