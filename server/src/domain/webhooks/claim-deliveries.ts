import type { Context } from '../context.ts'
import { formatEvent } from '../events/format-event.ts'
import type { ClaimedDelivery } from './delivery.ts'
import { secretSealContext } from './endpoint.ts'
import {
  COMMIT_RELAXED,
  leaseDeliveries,
  lockDueDeliveries,
  lockDueEndpoints,
  mayHaveDue,
  type ClaimBounds,
  type DueRow,
} from './queue-store.ts'

/**
 * One claim examines the queues of at most this many endpoints. If there are more, the next claim continues after the
 * last one.
 */
const HOPS_MAX = 2_000

/**
 * How many endpoints are examined to find out that nothing is due. A low limit, because requests of the service use the
 * same connection and wait for this read.
 */
const CHECK_HOPS_MAX = 20

/**
 * Claims due deliveries for `leaseMs`. Until this lease expires, no other worker gets them. Each returned delivery
 * contains everything that its attempt needs, as it is stored now.
 *
 * At most `inFlightMax` deliveries to one endpoint are in flight at a time, in all processes together. All workspaces
 * that one person created have one share of the sender's capacity together. People with the fewest deliveries in flight
 * come first. Of their workspaces, those with the fewest come first, and so do the endpoints of a workspace. So neither
 * a slow endpoint nor a burst of events delays the deliveries of other people.
 *
 * A sender without deliveries in flight first checks with a single read whether anything is due, because it claims every
 * fraction of a second, and an empty claim of its own costs several statements and two round trips.
 *
 * The claim does not wait for the disk (0038). If the database loses it, the delivery may be sent twice.
 */
export async function claimDeliveries(
  ctx: Pick<Context, 'db' | 'clock' | 'sealer' | 'logger' | 'webhooksExamined'>,
  { leaseMs, ...wanted }: Omit<ClaimBounds, 'now'> & { leaseMs: number },
): Promise<ClaimedDelivery[]> {
  if (wanted.limit <= 0) return []
  const now = ctx.clock.now()
  if (wanted.places.held.size === 0 && !(await ctx.db.read(mayHaveDue(now, CHECK_HOPS_MAX)))) return []
  const leasedUntil = new Date(now.getTime() + leaseMs)
  const bounds = { ...wanted, now }
  const pool = wanted.hangs ? 'hanging' : 'prompt'
  const rows = await ctx.db.transaction(async (transaction) => {
    const due = lockDueEndpoints(bounds, { start: ctx.webhooksExamined[pool], hopsMax: HOPS_MAX })
    const [, { endpoints, last }] = await transaction.batch([COMMIT_RELAXED, due])
    ctx.webhooksExamined[pool] = last
    if (endpoints.length === 0) return []
    // A separate statement reads the deliveries after the endpoints are locked. Only then does the statement see the
    // leases of workers that had locked these endpoints before.
    const locked = await transaction.run(lockDueDeliveries(bounds, endpoints))
    // Each update finds its deliveries by primary key, so that the planner cannot choose a slow join with the whole
    // table.
    const ofWorkspaces = Map.groupBy(locked, ({ delivery }) => delivery.workspaceId)
    const idsOf = (due: readonly DueRow[]) => due.map(({ delivery }) => delivery.id)
    await transaction.commit([...ofWorkspaces].map(([id, due]) => leaseDeliveries(id, idsOf(due), leasedUntil)))
    return locked
  })
  const openSecrets = createSecretsReader(ctx)
  return rows.flatMap((row) => toClaimed(ctx, row, { leasedUntil, openSecrets }))
}

/**
 * Creates a function that decrypts the secrets of a due delivery's endpoint. It decrypts each endpoint's secrets once.
 * Each claim creates its own function, so that the decrypted secrets are kept no longer than the claimed deliveries.
 */
function createSecretsReader({ sealer }: Pick<Context, 'sealer'>): (row: DueRow) => readonly string[] {
  const opened = new Map<string, readonly string[]>()
  return ({ delivery: { workspaceId, endpointId }, secretSealed, previousSecretSealed }) => {
    const context = secretSealContext(workspaceId, endpointId)
    const known = opened.get(context)
    if (known !== undefined) return known
    const sealed = [secretSealed, ...(previousSecretSealed === null ? [] : [previousSecretSealed])]
    const secrets = sealed.map((secret) => sealer.open(secret, context))
    opened.set(context, secrets)
    return secrets
  }
}

function toClaimed(
  ctx: Pick<Context, 'logger'>,
  row: DueRow,
  { leasedUntil, openSecrets }: { leasedUntil: Date; openSecrets: (row: DueRow) => readonly string[] },
): ClaimedDelivery[] {
  const { delivery, holder, url, eventCreatedAt, dataText } = row
  const { eventId, eventType, mode, endpointId } = delivery
  const event = { id: eventId, type: eventType, createdAt: eventCreatedAt, mode, dataText }
  try {
    const secrets = openSecrets(row)
    const body = formatEvent(event, row.workspaceSlug)
    return [{ delivery, holder, leasedUntil, url, secrets, body, attemptNumber: delivery.attempts + 1 }]
  } catch (error) {
    // An endpoint with an unreadable secret must not delay the others. Its delivery can be claimed again when the lease
    // has expired.
    ctx.logger.error(
      { err: error, endpoint: endpointId },
      'cannot decrypt the secret of a webhook endpoint; its deliveries are not sent',
    )
    return []
  }
}
