import type { Context } from '../context.ts'
import { RECORD_INTERVAL_MS } from './connection-error.ts'
import { findPresented, upsertConnectionError } from './connection-errors-store.ts'
import { decideConnectionError, type Attempt } from './decide-connection-error.ts'

/**
 * Records why a client's attempt failed, so that people can read it on the dashboard (D73a). `hash` is the hash of the
 * code or token that the client presented. Does nothing if the code or token is unknown, so only a client to which a
 * person gave a code can cause a record. The same error of a connection is written at most once a minute.
 *
 * Takes one read by primary keys. The write is deferred: the caller does not wait for it, and the caller's response
 * stays the same even if the write fails.
 */
export async function recordConnectionError(
  ctx: Pick<Context, 'db' | 'deferredWrites' | 'clock'>,
  { hash, attempt }: { hash: Buffer; attempt: Attempt },
): Promise<void> {
  const now = ctx.clock.now()
  const recordedSince = new Date(now.getTime() - RECORD_INTERVAL_MS)
  const presented = await ctx.db.read(findPresented(attempt.kind, hash, recordedSince))
  if (presented === null) return
  const code = decideConnectionError(attempt, presented, now)
  if (code === null || presented.recordedCodes.includes(code)) return
  ctx.deferredWrites.add(upsertConnectionError(presented, code, now))
}
