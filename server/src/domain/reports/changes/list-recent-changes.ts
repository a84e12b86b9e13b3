import { idBoundary } from '../../../values/ids.ts'
import type { Context } from '../../context.ts'
import type { EventType } from '../../events/event.ts'
import type { Change, ChangeKind, Place } from './change.ts'
import { listRecentRows } from './changes-store.ts'

/**
 * An event is there when its transaction has committed, a while after the moment that its id tells. Whoever looks again
 * and again so far back misses none.
 */
const LOOK_BACK_MS = 30_000
/** Of one type in one place. Whoever has so many in that time is told of changes all the time. */
const CHANGES_OF_TYPE_MAX = 50

const KINDS: Readonly<Partial<Record<EventType, ChangeKind>>> = {
  'payment.created': 'payments',
  'payment.confirmed': 'payments',
  'payment.failed': 'payments',
  'inbound.received': 'deposits',
  'permission.granted': 'grants',
  'permission.revoked': 'grants',
}

/** What changed in these places in the last 30 seconds, as far as it can be seen now: the newest of each kind. */
export async function listRecentChanges(
  ctx: Pick<Context, 'db' | 'clock'>,
  { places }: { places: readonly Place[] },
): Promise<Change[]> {
  const since = new Date(ctx.clock.now().getTime() - LOOK_BACK_MS)
  const query = listRecentRows({
    places,
    types: Object.keys(KINDS),
    eventsFrom: idBoundary('event', since),
    refusalsFrom: idBoundary('refusal', since),
    limit: CHANGES_OF_TYPE_MAX,
  })
  const rows = await ctx.db.runSlow(query)
  return rows.map(({ type, ...row }) => ({ ...row, kind: type === null ? 'refusals' : (KINDS[type] ?? 'payments') }))
}
