import { useState } from 'react'
import { flushSync } from 'react-dom'

/**
 * What takes a form away that a button opened, and gives the focus back to that button. The button may have been away
 * meanwhile: then its successor of the same name is meant.
 */
export function useCancel(onCancel: () => void): () => void
export function useCancel(onCancel: (() => void) | undefined): (() => void) | undefined
export function useCancel(onCancel: (() => void) | undefined): (() => void) | undefined {
  // On the form's first rendering the button that was pressed still stands, and has the focus.
  const [opener] = useState(() => document.activeElement)
  const [name] = useState(() => nameOf(opener))
  if (onCancel === undefined) return undefined
  return () => {
    flushSync(onCancel)
    const button =
      opener?.isConnected === true
        ? opener
        : [...document.querySelectorAll('main button')].find((candidate) => nameOf(candidate) === name)
    if (button instanceof HTMLButtonElement) button.focus()
  }
}

function nameOf(element: Element | null): string | null {
  return element?.getAttribute('aria-label') ?? element?.textContent ?? null
}
