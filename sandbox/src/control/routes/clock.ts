import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { Problem } from '../../../../server/src/values/problem.ts'
import { serialQueue } from '../../chain/serial-queue.ts'
import { Fields } from '../fields.ts'
import type { ControlContext } from '../control-context.ts'

/** Ten years: beyond every lifetime that the service knows, and within what every clock and column can hold. */
const OFFSET_SECONDS_MAX = 10 * 366 * 24 * 60 * 60

/** D49: one clock for all, which can be moved forward, or back to the real time. */
export function addClockRoutes(http: HttpServer, world: ControlContext): void {
  const { state, context } = world
  // Two moves at once add up.
  const enqueue = serialQueue()

  http.post('/clock', async (request) => {
    const fields = new Fields(request.body)
    const advanceMs = readMove(fields)
    return await enqueue(async () => {
      const offsetMs = advanceMs === null ? 0 : state.current.clockOffsetMs + advanceMs
      if (offsetMs > OFFSET_SECONDS_MAX * 1_000) {
        throw new Problem('validation_failed', 'advance_seconds would move the clock by more than ten years in all.')
      }
      await world.setClockOffset(offsetMs)
      return { now: context.clock.now().toISOString() }
    })
  })
}

/** Milliseconds forward, or null for the real time. */
function readMove(fields: Fields): number | null {
  if (fields.only(['advance_seconds', 'reset']) === 'advance_seconds') {
    return fields.integer('advance_seconds', { min: 0, max: OFFSET_SECONDS_MAX }) * 1_000
  }
  if (!fields.flag('reset')) throw new Problem('validation_failed', 'reset must be true.')
  return null
}
