import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { Problem } from '../../../../server/src/values/problem.ts'
import { serialQueue } from '../../chain/serial-queue.ts'
import { Fields } from '../fields.ts'
import type { ControlContext } from '../control-context.ts'

/** The largest offset: ten years. It is longer than every lifetime in the service, and no clock or column overflows. */
const OFFSET_SECONDS_MAX = 10 * 366 * 24 * 60 * 60

/** Adds the route that moves the clock of all processes forward, or back to the real time (D49). */
export function addClockRoutes(http: HttpServer, control: ControlContext): void {
  const { state, context } = control
  // Moves are made one after the other, so that two concurrent moves add up.
  const enqueue = serialQueue()

  http.post('/clock', async (request) => {
    const fields = new Fields(request.body)
    const advanceMs = readMove(fields)
    return await enqueue(async () => {
      const offsetMs = advanceMs === null ? 0 : state.current.clockOffsetMs + advanceMs
      if (offsetMs > OFFSET_SECONDS_MAX * 1_000) {
        throw new Problem(
          'validation_failed',
          'advance_seconds would move the clock more than ten years ahead in total.',
        )
      }
      await control.setClockOffset(offsetMs)
      return { now: context.clock.now().toISOString() }
    })
  })
}

/** Returns by how many milliseconds to move the clock forward, or null to return to the real time. */
function readMove(fields: Fields): number | null {
  if (fields.only(['advance_seconds', 'reset']) === 'advance_seconds') {
    return fields.integer('advance_seconds', { min: 0, max: OFFSET_SECONDS_MAX }) * 1_000
  }
  if (!fields.flag('reset')) throw new Problem('validation_failed', 'reset must be true.')
  return null
}
