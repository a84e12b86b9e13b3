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

/** So many endpoints' queues one claim looks into. With more of them than that, the next claim goes on behind. */
const HOPS_MAX = 2_000

/** How far this process has looked, for endpoints that hang and for those that do not. */
const lastLooks = { hanging: new WeakMap<Database, EndpointKey>(), prompt: new WeakMap<Database, EndpointKey>() }
const BEFORE_ALL: EndpointKey = { accountId: '', id: '' }

/**
 * Takes what is due, for so long: nobody else gets it before its lease ends. At most `inFlightMax` are under way to an
 * endpoint, whatever the number of processes, and no workspace takes more of the sender's places than its share; the
 * workspaces with the least under way come first, and inside each the endpoints with the least, so that neither slow ones
 * nor a burst hold up the others. Each delivery carries all that its attempt needs, as things stand now.
 */
export async function claimDeliveries(
  ctx: Pick<Context, 'db' | 'clock' | 'sealer' | 'logger'>,
  { leaseMs, ...wanted }: Omit<ClaimBounds, 'now'> & { leaseMs: number },
): Promise<ClaimedDelivery[]> {
  if (wanted.limit <= 0) return []
  const now = ctx.clock.now()
  const leasedUntil = new Date(now.getTime() + leaseMs)
  const bounds = { ...wanted, now }
  const looks = wanted.hangs ? lastLooks.hanging : lastLooks.prompt
  const rows = await ctx.db.transaction(async (transaction) => {
    const due = lockDueEndpoints(bounds, { start: looks.get(ctx.db) ?? BEFORE_ALL, hopsMax: HOPS_MAX })
    const [, { endpoints, last }] = await transaction.batch([READ_IN_ORDER, due])
    looks.set(ctx.db, last)
    if (endpoints.length === 0) return []
    // A statement of its own, since it must see what others had leased before they let go of these locks.
    const locked = await transaction.run(lockDueDeliveries(bounds, endpoints))
    // By their keys: no plan of a join with the whole table can be slow.
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
    // One endpoint whose secret can't be read must not hold up the others; its lease ends by itself.
    ctx.logger.error({ err: error, endpoint: endpointId }, 'a webhook endpoint has a secret that can not be opened')
    return []
  }
}
