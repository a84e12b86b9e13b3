import { useState } from 'react'
import { flushSync } from 'react-dom'

/**
 * Returns a function that closes a form and returns the focus to the button that opened it. If that button was replaced
 * meanwhile, a button with the same name gets the focus.
 */
export function useCancel(onCancel: () => void): () => void
export function useCancel(onCancel: (() => void) | undefined): (() => void) | undefined
export function useCancel(onCancel: (() => void) | undefined): (() => void) | undefined {
  // On the first render of the form, the button that opened it still has the focus.
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
