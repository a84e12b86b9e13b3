import { idBoundary } from '../../../values/ids.ts'
import type { Context } from '../../context.ts'
import type { EventType } from '../../events/event.ts'
import type { Change, ChangeKind, Place } from './change.ts'
import { listRecentRows } from './changes-store.ts'

/**
 * An event becomes visible when its transaction commits, some time after the time in its id. A caller that polls and reads
 * this far back each time misses none.
 */
const LOOK_BACK_MS = 30_000
/** The most changes of one type in one place. With this many in 30 seconds, a page reloads all the time anyway. */
const CHANGES_OF_TYPE_MAX = 50

const KINDS: Readonly<Partial<Record<EventType, ChangeKind>>> = {
  'payment.created': 'payments',
  'payment.confirmed': 'payments',
  'payment.failed': 'payments',
  'inbound.received': 'deposits',
  'permission.granted': 'grants',
  'permission.revoked': 'grants',
}

/** Lists the newest changes of each type in the last 30 seconds that are visible now. */
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
