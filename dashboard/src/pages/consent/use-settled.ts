import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'

/** Long enough for a double click or a held key, which was meant for another window, to end. */
const SETTLE_MS = 500

/**
 * Returns false for half a second after the page was shown or got the focus, then true. This prevents an accidental
 * approval by a click that was meant for another window.
 */
export function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    const settle = () => window.setTimeout(() => setSettled(true), SETTLE_MS)
    let timer = settle()
    const restart = () => {
      window.clearTimeout(timer)
      timer = settle()
      // Rendered synchronously, because the click that gave the focus reaches the button next.
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
