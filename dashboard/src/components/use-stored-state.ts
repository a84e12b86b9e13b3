import { useEffect, useState } from 'react'

/** The state of a form that survives when the user opens another page, goes back, or reloads. */
interface StoredState<Value> {
  readonly value: Value
  readonly change: (next: (before: Value) => Value) => void
  /** Whether the value is from an earlier visit of the page. */
  readonly isRestored: boolean
  /** Forgets what is stored, and begins again with the first value. */
  readonly startOver: () => void
  /** Forgets what is stored. The value on the page stays. */
  readonly forget: () => void
}

interface StoredStateOptions<Value> {
  /** The name of the stored value. It must name the person, because another one may sign in in the same tab. */
  readonly key: string
  /** Parses what `JSON.parse` returned for a stored value. Null if it is not valid, for example of an older version. */
  readonly parse: (stored: unknown) => Value | null
  readonly first: () => Value
}

/** Keeps a state in the session storage of the tab, which the browser deletes when the tab is closed. */
export function useStoredState<Value>({ key, parse, first }: StoredStateOptions<Value>): StoredState<Value> {
  const [{ value, isRestored, isChanged }, setState] = useState(() => {
    const stored = parse(read(key))
    return stored === null
      ? { value: first(), isRestored: false, isChanged: false }
      : { value: stored, isRestored: true, isChanged: false }
  })
  useEffect(() => {
    if (isChanged) write(key, JSON.stringify(value))
  }, [key, value, isChanged])
  return {
    value,
    isRestored,
    change: (next) => setState((before) => ({ ...before, value: next(before.value), isChanged: true })),
    startOver: () => {
      write(key, null)
      setState({ value: first(), isRestored: false, isChanged: false })
    },
    forget: () => write(key, null),
  }
}

function read(key: string): unknown {
  try {
    return JSON.parse(window.sessionStorage.getItem(key) ?? 'null')
  } catch {
    // Storage may be disabled, or contain something that we did not write.
    return null
  }
}

function write(key: string, text: string | null): void {
  try {
    if (text === null) window.sessionStorage.removeItem(key)
    else window.sessionStorage.setItem(key, text)
  } catch {
    // Storage may be disabled or full. Then the form does not survive.
  }
}
