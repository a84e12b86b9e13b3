import type pg from 'pg'

/**
 * What is sent while `send` runs leaves in one write. The driver writes every statement by itself, and a write that wakes
 * the server costs more than most statements do.
 */
export function coalesceWrites<Result>(client: pg.Client, send: () => Result): Result {
  const { stream } = client.connection
  stream.cork()
  try {
    return send()
  } finally {
    stream.uncork()
  }
}

/** What is sent from now until the events that are due have been handled leaves in one write. */
export function enableCoalescing(client: pg.Client): void {
  const { stream } = client.connection
  if (stream.writableCorked > 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}
