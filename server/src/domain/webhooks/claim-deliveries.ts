import type { Database } from '../../db/database.ts'
import type { Context } from '../context.ts'
import { formatEvent } from '../events/format-event.ts'
import type { ClaimedDelivery } from './delivery.ts'
import { secretSealContext } from './endpoint.ts'
import {
  leaseDeliveries,
  lockDueDeliveries,
  lockDueEndpoints,
  READ_IN_ORDER,
  type ClaimBounds,
  type DueRow,
  type EndpointKey,
} from './queue-store.ts'

/**
 * One claim examines the queues of at most this many endpoints. If there are more, the next claim continues after the
 * last one.
 */
const HOPS_MAX = 2_000

/** The last endpoint that this process examined, separately for hanging endpoints and for all others. */
const lastPositions = { hanging: new WeakMap<Database, EndpointKey>(), prompt: new WeakMap<Database, EndpointKey>() }
const BEFORE_ALL: EndpointKey = { accountId: '', id: '' }

/**
 * Claims due deliveries for `leaseMs`. Until this lease expires, no other worker gets them. Each returned delivery
 * contains everything that its attempt needs, as it is stored now.
 *
 * At most `inFlightMax` deliveries to one endpoint are in flight at a time, in all processes together. No workspace
 * uses more than its share of the sender's capacity. Workspaces with the fewest deliveries in flight come first, and
 * within a workspace, the endpoints with the fewest. So neither a slow endpoint nor a burst of events delays the
 * deliveries of other workspaces.
 */
export async function claimDeliveries(
  ctx: Pick<Context, 'db' | 'clock' | 'sealer' | 'logger'>,
  { leaseMs, ...wanted }: Omit<ClaimBounds, 'now'> & { leaseMs: number },
): Promise<ClaimedDelivery[]> {
  if (wanted.limit <= 0) return []
  const now = ctx.clock.now()
  const leasedUntil = new Date(now.getTime() + leaseMs)
  const bounds = { ...wanted, now }
  const positions = wanted.hangs ? lastPositions.hanging : lastPositions.prompt
  const rows = await ctx.db.transaction(async (transaction) => {
    const due = lockDueEndpoints(bounds, { start: positions.get(ctx.db) ?? BEFORE_ALL, hopsMax: HOPS_MAX })
    const [, { endpoints, last }] = await transaction.batch([READ_IN_ORDER, due])
    positions.set(ctx.db, last)
    if (endpoints.length === 0) return []
    // A separate statement reads the deliveries after the endpoints are locked. Only then does the statement see the
    // leases of workers that had locked these endpoints before.
    const locked = await transaction.run(lockDueDeliveries(bounds, endpoints))
    // Each update finds its deliveries by primary key, so that the planner cannot choose a slow join with the whole
    // table.
    const ofAccounts = Map.groupBy(locked, ({ delivery }) => delivery.accountId)
    const idsOf = (due: readonly DueRow[]) => due.map(({ delivery }) => delivery.id)
    await transaction.commit([...ofAccounts].map(([id, due]) => leaseDeliveries(id, idsOf(due), leasedUntil)))
    return locked
  })
  return rows.flatMap((row) => toClaimed(ctx, row, leasedUntil))
}

function toClaimed(ctx: Pick<Context, 'sealer' | 'logger'>, row: DueRow, leasedUntil: Date): ClaimedDelivery[] {
  const { delivery, url, secretSealed, previousSecretSealed, eventCreatedAt, dataText } = row
  const { accountId, eventId, eventType, mode, endpointId } = delivery
  const event = { id: eventId, type: eventType, createdAt: eventCreatedAt, mode, dataText }
  const sealed = [secretSealed, ...(previousSecretSealed === null ? [] : [previousSecretSealed])]
  try {
    const secrets = sealed.map((secret) => ctx.sealer.open(secret, secretSealContext(accountId, endpointId)))
    const body = formatEvent(event, row.accountSlug)
    return [{ delivery, leasedUntil, url, secrets, body, attemptNumber: delivery.attempts + 1 }]
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
