import { idBoundary } from '../../../values/ids.ts'
import type { Context } from '../../context.ts'
import type { EventType } from '../../events/event.ts'
import type { Change, ChangeKind, Place } from './change.ts'
import { listRecentRows } from './changes-store.ts'

/**
 * How far back each call reads. An event becomes visible only when its transaction commits, which is some time after
 * the time in its id. So a caller that polls must read this far back each time, or it could miss an event.
 */
const LOOK_BACK_MS = 30_000
/**
 * How many changes of one type are returned at most for one place (a workspace and mode). With this many changes in 30
 * seconds, a page reloads all the time anyway.
 */
const CHANGES_OF_TYPE_MAX = 50

const KINDS = {
  'payment.created': 'payments',
  'payment.confirmed': 'payments',
  'payment.failed': 'payments',
  'inbound.received': 'deposits',
  'permission.granted': 'grants',
  'permission.revoked': 'grants',
  'permission.suspended': 'grants',
  'permission.resumed': 'grants',
} as const satisfies Partial<Record<EventType, ChangeKind>>

/** Lists the changes of the last 30 seconds that are visible now: in each place, the newest of each type. */
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
    entriesFrom: idBoundary('auditEntry', since),
    limit: CHANGES_OF_TYPE_MAX,
  })
  const rows = await ctx.db.readSlow(query)
  return rows.map(({ type, ...row }) => ({ ...row, kind: type === null ? 'refusals' : kindOf(type) }))
}

/**
 * A type that is not in `KINDS` is the action of an audit entry about a withdrawal. Withdrawals are rows of `payments`.
 */
function kindOf(type: string): ChangeKind {
  return new Map<string, ChangeKind>(Object.entries(KINDS)).get(type) ?? 'payments'
}
