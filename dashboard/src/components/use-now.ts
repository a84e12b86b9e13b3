import { useSyncExternalStore } from 'react'

/** The current time in milliseconds, rounded down to `stepMs`. Rerenders the component with each step. */
export function useNow(stepMs: number): number {
  return useSyncExternalStore(
    (onChange) => {
      const timer = setInterval(onChange, stepMs)
      return () => clearInterval(timer)
    },
    () => Math.floor(Date.now() / stepMs) * stepMs,
  )
}
