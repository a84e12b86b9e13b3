import type pg from 'pg'

/**
 * Sends everything that `send` sends in one write to the socket. The driver writes each statement separately, and each
 * write that wakes the server costs more than most statements do. It offers no other way, so this works on its socket,
 * `connection.stream`; the test beside this file fails if an update of pg changes what this relies on.
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

/** Sends everything that is sent from now until the end of this turn of the event loop in one write. */
export function enableCoalescing(client: pg.Client): void {
  const { stream } = client.connection
  if (stream.writableCorked > 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}
