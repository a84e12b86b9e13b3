import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS, type StoredEvent } from './event.ts'
import { findEvent } from './events-store.ts'

/** Returns an event of the workspace from the last 30 days, or null. */
export async function findRecentEvent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<StoredEvent | null> {
  const event = isId('event', id) ? await ctx.db.read(findEvent(workspaceId, id)) : null
  const oldest = ctx.clock.now().getTime() - EVENT_RETENTION_MS
  return event === null || event.createdAt.getTime() < oldest ? null : event
}

/** Returns an event of the workspace and mode from the last 30 days, or throws 404 `event_not_found`. */
export async function getEvent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, id }: { workspaceId: string; mode: Mode; id: string },
): Promise<StoredEvent> {
  const event = await findRecentEvent(ctx, { workspaceId, id })
  if (event?.mode !== mode) throw problem('event_not_found')
  return event
}
