import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { StoredEvent } from './event.ts'
import { findRecentEvent } from './find-recent-event.ts'

/** An event of the last 30 days in this (account, mode), or 404 `event_not_found`. */
export async function getEvent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<StoredEvent> {
  const event = await findRecentEvent(ctx, { accountId, id })
  if (event?.mode !== mode) throw problem('event_not_found')
  return event
}
