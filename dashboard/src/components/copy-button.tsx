import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { TextButton } from './text-link.tsx'

interface CopyButtonProps {
  readonly text: string
  /** What is copied, to follow "Copy". */
  readonly what: string
  /** Stands like a link, and shows the word "Copy" alone; readers of the screen hear the whole. */
  readonly isShort?: boolean
}

type Outcome = 'copied' | 'refused' | null

/** So long the button says that it was copied. */
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
      () => setOutcome('refused'),
    )
  }
  const word = outcome === 'copied' ? 'Copied' : 'Copy'
  return (
    <>
      {isShort ? (
        <TextButton aria-label={`${word} ${what}`} onClick={copy}>
          {word}
        </TextButton>
      ) : (
        <Button onClick={copy}>{`${word} ${what}`}</Button>
      )}
      <span role="status" className={outcome === 'refused' ? 'text-sm text-danger' : 'sr-only'}>
        {outcome === 'copied' && `Copied ${what}`}
        {outcome === 'refused' && 'The browser did not allow it. Select the text and copy it yourself.'}
      </span>
    </>
  )
}
