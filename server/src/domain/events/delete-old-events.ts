import { idBoundary } from '../../values/ids.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS } from './event.ts'
import { deleteEventsBelow } from './events-store.ts'

/** One statement examines at most this many workspaces, and deletes at most this many events. */
const WORKSPACES_MAX = 500
const EVENTS_MAX = 5_000

/**
 * Deletes events that are older than 30 days, unless a delivery of them is still stored. Each call goes on with the
 * workspaces after those of the call before, so that no index by time is needed, into which every payment would write.
 * If there were more events than one call deletes, the next call stays with these workspaces. Returns how many events
 * were deleted.
 */
export async function deleteOldEvents({
  db,
  clock,
  eventsExamined,
}: Pick<Context, 'db' | 'clock' | 'eventsExamined'>): Promise<number> {
  const below = idBoundary('event', new Date(clock.now().getTime() - EVENT_RETENTION_MS))
  const { found, deleted, last } = await db.write(
    deleteEventsBelow({
      ...{ after: eventsExamined.workspaceId, workspacesMax: WORKSPACES_MAX },
      ...{ below, rowsMax: EVENTS_MAX },
    }),
  )
  const isOver = found < EVENTS_MAX || deleted === 0
  // After the last workspace, the next call begins again with the first one.
  if (isOver) eventsExamined.workspaceId = last ?? ''
  return deleted
}
