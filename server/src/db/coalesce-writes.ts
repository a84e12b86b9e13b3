import type pg from 'pg'

/**
 * Calls `send`, and sends all of its statements in one write to the socket. The driver would write each statement
 * separately, and each write that wakes the server costs more than most statements. The driver has no option for this,
 * so we use its internal socket, `connection.stream`. The test beside this file fails if an update of pg changes that
 * socket.
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

/** Collects all statements that are sent until the end of this turn of the event loop, and sends them in one write. */
export function enableCoalescing(client: pg.Client): void {
  const { stream } = client.connection
  if (stream.writableCorked > 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}
