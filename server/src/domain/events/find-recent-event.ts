import { isId } from '../../values/ids.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS, type StoredEvent } from './event.ts'
import { findEvent } from './events-store.ts'

/** An event of the last 30 days of this account, or null. */
export async function findRecentEvent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, id }: { accountId: string; id: string },
): Promise<StoredEvent | null> {
  const event = isId('event', id) ? await ctx.db.runRelaxed(findEvent(accountId, id)) : null
  const oldest = ctx.clock.now().getTime() - EVENT_RETENTION_MS
  return event === null || event.createdAt.getTime() < oldest ? null : event
}
