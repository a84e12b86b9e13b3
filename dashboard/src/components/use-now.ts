import { useSyncExternalStore } from 'react'

/**
 * The time now, in milliseconds, rounded down to `stepMs`: the page is drawn anew with each step.
 */
export function useNow(stepMs: number): number {
  return useSyncExternalStore(
    (onChange) => {
      const timer = setInterval(onChange, stepMs)
      return () => clearInterval(timer)
    },
    () => Math.floor(Date.now() / stepMs) * stepMs,
  )
}
