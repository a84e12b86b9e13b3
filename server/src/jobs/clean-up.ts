import { ERROR_RETENTION_MS } from '../domain/connection-errors/connection-error.ts'
import { deleteOldErrors } from '../domain/connection-errors/connection-errors-store.ts'
import { deleteEndedAccessTokens } from '../domain/connections/access-tokens-store.ts'
import { deleteEndedCodes } from '../domain/connections/codes-store.ts'
import { endUnusedConnections } from '../domain/connections/end-unused-connections.ts'
import { CODE_RETENTION_MS, UNUSED_CLIENT_RETENTION_MS } from '../domain/connections/limits.ts'
import { deleteEndedRefreshTokens } from '../domain/connections/refresh-tokens-store.ts'
import { deleteEndedRequests, deleteUnusedClients } from '../domain/connections/requests-store.ts'
import type { Context } from '../domain/context.ts'
import { deleteOldEvents } from '../domain/events/delete-old-events.ts'
import { deleteOldOutboundRequests } from '../domain/outbound-requests/outbound-requests-store.ts'
import { openSignatures } from '../domain/owner-signatures/open-signatures.ts'
import { deleteEndedOwnerRequests } from '../domain/owners/owner-requests-store.ts'
import { cleanUpNewcomers } from '../domain/passkeys/clean-up-newcomers.ts'
import { deleteEndedCeremonies } from '../domain/passkeys/passkeys-store.ts'
import { deleteKeptAnswers, giveBackReservedBytes } from '../domain/purchases/purchases-store.ts'
import { REFUSAL_RETENTION_MS } from '../domain/refusals/refusal.ts'
import { deleteOldRefusals } from '../domain/refusals/refusals-store.ts'
import { trimRefusals } from '../domain/refusals/trim-refusals.ts'
import { deleteEndedSessions } from '../domain/sessions/sessions-store.ts'
import { cleanUpWebhooks } from '../domain/webhooks/clean-up-webhooks.ts'
import type { Query } from '../db/query.ts'
import type { Loop } from '../lib/loop.ts'
import { deleteEndedAttempts } from '../limiter/limiter-store.ts'
import { startLeasedLoop, type RenewLease } from './start-leased-loop.ts'

const INTERVAL_MS = 60_000
const LEASE_MS = 3 * INTERVAL_MS
/** A statement deletes at most this many rows, so that it stays far below its time limit and holds no lock for long. */
const ROWS_MAX = 10_000
/** A seller's stored response may have more than 1 MiB. */
const ANSWERS_MAX = 200
/**
 * How many times a step may run in one round. Each run deletes at most 10,000 rows of a table. All runs together can
 * delete more rows than unknown callers can add between two rounds.
 */
const STEPS_PER_ROUND_MAX = 50

/** How long a seller's response is kept (D68). */
export const ANSWER_RETENTION_MS = 24 * 60 * 60 * 1_000
/**
 * After this time, no response to a purchase can arrive any more: its authorization has expired (300 seconds at most),
 * and so has the last request with it (95 seconds).
 */
export const RESERVED_BYTES_MS = 10 * 60_000
/** How long a request that an owner was asked to sign is kept after it has expired. The audit log keeps its outcome. */
export const OWNER_REQUEST_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000

type CleanUpContext = Pick<
  Context,
  'db' | 'clock' | 'enclave' | 'eventsExamined' | 'logger' | 'outboundRetentionMs' | 'sealer'
>
/** Deletes a limited number of rows, and returns how many. One step changes rows instead: `openSignatures`. */
type Deletion = (ctx: CleanUpContext) => Promise<number>

/** What is deleted when. The deletions of one subject run in this order, as one step. */
const DELETIONS = {
  sessions: [endedFor(0, deleteEndedCeremonies), endedFor(0, deleteEndedSessions)],
  newcomers: [cleanUpNewcomers],
  connections: [
    endedFor(0, deleteEndedRequests),
    endedFor(CODE_RETENTION_MS, deleteEndedCodes),
    endedFor(0, deleteEndedAccessTokens),
    // Used ones are kept until they would have expired, so that a second use is detected (D38).
    endedFor(0, deleteEndedRefreshTokens),
    endedFor(UNUSED_CLIENT_RETENTION_MS, deleteUnusedClients),
    endUnusedConnections,
  ],
  connectionErrors: [endedFor(ERROR_RETENTION_MS, deleteOldErrors)],
  webhooks: [cleanUpWebhooks],
  // After the webhooks, because events are kept while a delivery needs them.
  events: [deleteOldEvents],
  refusals: [endedFor(REFUSAL_RETENTION_MS, deleteOldRefusals)],
  outboundRequests: [(ctx) => endedFor(ctx.outboundRetentionMs, deleteOldOutboundRequests)(ctx)],
  ownerRequests: [endedFor(OWNER_REQUEST_RETENTION_MS, deleteEndedOwnerRequests)],
  ownerSignatures: [openSignatures],
  purchases: [
    endedFor(ANSWER_RETENTION_MS, deleteKeptAnswers, ANSWERS_MAX),
    endedFor(RESERVED_BYTES_MS, giveBackReservedBytes),
  ],
  surplusRefusals: [(ctx) => trimRefusals(ctx)],
  attempts: [endedFor(0, deleteEndedAttempts)],
} as const satisfies Readonly<Record<string, readonly Deletion[]>>

type Subject = keyof typeof DELETIONS

/**
 * Deletes what `DELETIONS` lists, in bounded steps. The steps run one after the other, so that they need one database
 * connection. If a step fails, the others still run, and the first error is thrown at the end.
 */
export function cleanUp(ctx: Context, { holder }: { holder: string }): Loop {
  const options = { name: 'clean-up', holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    const errors: unknown[] = []
    for (const subject of Object.keys(DELETIONS) as Subject[]) {
      await repeat(ctx, { subject, renewLease, signal }).catch((error: unknown) => errors.push(error))
    }
    if (errors.length > 0) throw errors[0]
  })
}

/** Runs the deletions of one subject once. Returns how many rows they deleted. */
export async function cleanUpOnce(ctx: CleanUpContext, subject: Subject): Promise<number> {
  let deleted = 0
  for (const deletion of DELETIONS[subject]) deleted += await deletion(ctx)
  return deleted
}

async function repeat(
  ctx: Context,
  { subject, renewLease, signal }: { subject: Subject; renewLease: RenewLease; signal: AbortSignal },
): Promise<void> {
  for (let count = 0; count < STEPS_PER_ROUND_MAX && !signal.aborted; count += 1) {
    if (!(await renewLease())) return
    if ((await cleanUpOnce(ctx, subject)) === 0) return
  }
}

/** Makes the deletion of rows that ended, or were made, at least this long ago. */
function endedFor(
  milliseconds: number,
  deleteRows: (before: Date, rowsMax: number) => Query<number>,
  rowsMax = ROWS_MAX,
): Deletion {
  return ({ db, clock }) => db.write(deleteRows(new Date(clock.now().getTime() - milliseconds), rowsMax))
}
