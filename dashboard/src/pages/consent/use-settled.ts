import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'

/** Long enough for a double click or a held key that was meant for another window to be over. */
const SETTLE_MS = 500

/**
 * False for half a second after the page was shown or got the focus, so that nobody approves what came up under a click
 * that was meant for something else.
 */
export function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    const settle = () => window.setTimeout(() => setSettled(true), SETTLE_MS)
    let timer = settle()
    const restart = () => {
      window.clearTimeout(timer)
      timer = settle()
      // At once: the click that gave the focus is on its way to the button.
      flushSync(() => setSettled(false))
    }
    const restartWhenSeen = () => {
      if (document.visibilityState === 'visible') restart()
    }
    window.addEventListener('focus', restart)
    window.addEventListener('pageshow', restart)
    document.addEventListener('visibilitychange', restartWhenSeen)
    return () => {
      window.clearTimeout(timer)
      window.removeEventListener('focus', restart)
      window.removeEventListener('pageshow', restart)
      document.removeEventListener('visibilitychange', restartWhenSeen)
    }
  }, [])
  return isSettled
}
