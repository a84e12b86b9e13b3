import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { TextButton } from './text-link.tsx'

interface CopyButtonProps {
  readonly text: string
  /** What is copied, such as "the address" in the label "Copy the address". */
  readonly what: string
  /** Whether the button looks like a link and shows only "Copy". Screen readers read the full label. */
  readonly isShort?: boolean
}

type Outcome = 'copied' | 'failed' | null

/** How long the button shows that the text was copied. */
const SHOWN_MS = 2_000

export function CopyButton({ text, what, isShort = false }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>(null)
  useEffect(() => {
    if (outcome !== 'copied') return
    const timer = setTimeout(() => setOutcome(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('failed'),
    )
  }
  const word = outcome === 'copied' ? 'Copied' : 'Copy'
  return (
    <>
      {isShort ? (
        <TextButton aria-label={`${word} ${what}`} onClick={copy}>
          <span className="whitespace-nowrap">{word}</span>
        </TextButton>
      ) : (
        <Button onClick={copy}>{`${word} ${what}`}</Button>
      )}
      <span role="status" className={outcome === 'failed' ? 'text-sm text-danger' : 'sr-only'}>
        {outcome === 'copied' && `Copied ${what}`}
        {outcome === 'failed' && 'The browser did not allow copying. Select the text and copy it yourself.'}
      </span>
    </>
  )
}
