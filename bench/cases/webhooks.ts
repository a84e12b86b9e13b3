import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { readConfig } from '../../server/src/config.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import type { PostOrder } from '../bare-client.ts'
import type { LoadFigures } from '../load.ts'
import type { Series } from '../measure.ts'
import { startProcess, type BenchProcess } from '../processes.ts'
import type { Arrivals } from '../receiver.ts'
import { announce, okUrl, openWorkspace } from '../webhook-events.ts'
import type { World } from '../world.ts'

const FLOOR_POST = 'floor: a bare client posts'
export const DELIVERY = 'webhook delivery'

const WORKSPACES = 10
const ENDPOINTS_PER_WORKSPACE = 2
const POLL_MS = 50
const DRAIN_MS_MAX = 60_000

/**
 * Measures webhook deliveries. As the floor, a bare client posts the same number of bodies to a receiver. Before each
 * round, one transaction stores events for at least `amount` deliveries. The worker runs all the time.
 */
export async function webhookSeries(world: World, { amount }: { amount: number }): Promise<readonly Series[]> {
  // The two series may run at the same time, so each has a receiver of its own.
  const receiver = world.keep(await startProcess<{ port: number }>('./receiver.ts'))
  const floorReceiver = world.keep(await startProcess<{ port: number }>('./receiver.ts'))
  const client = world.keep(await startProcess('./bare-client.ts'))
  const worker = await world.startServer({ ROLE: 'worker' })
  const { port } = receiver.ready
  const { context, close } = openContext(readConfig({ ...world.environment }), {
    clock: createClock(),
    logger: createLogger('silent'),
  })
  world.onClose(close)
  const workspaces: string[] = []
  for (let index = 0; index < WORKSPACES; index += 1) {
    const urls = Array.from({ length: ENDPOINTS_PER_WORKSPACE }, (_, number) =>
      okUrl(port, index * ENDPOINTS_PER_WORKSPACE + number),
    )
    workspaces.push(await openWorkspace(context, urls))
  }
  const events = Math.ceil(amount / WORKSPACES / ENDPOINTS_PER_WORKSPACE)
  const total = events * WORKSPACES * ENDPOINTS_PER_WORKSPACE
  return [
    {
      name: FLOOR_POST,
      kind: 'floor',
      endpoints: [{ url: '', process: client }],
      prepare: async () => {
        await floorReceiver.ask<Arrivals>({ reset: true })
        return async () =>
          await countArrivals(floorReceiver, total, async () => {
            await client.ask({ port: floorReceiver.ready.port, count: total } satisfies PostOrder)
          })
      },
    },
    {
      name: DELIVERY,
      kind: 'ours',
      floors: [FLOOR_POST],
      aim: '0.3',
      endpoints: [worker],
      prepare: async () => {
        await receiver.ask<Arrivals>({ reset: true })
        await announce(context, workspaces, events)
        return async () => await countArrivals(receiver, total, () => waitUntilRecorded(world.databaseUrl))
      },
    },
  ]
}

/**
 * Starts `finish`, and waits until `total` different deliveries have arrived: only this time counts for the rate. Then
 * waits for the end of `finish`.
 */
async function countArrivals(
  receiver: BenchProcess<unknown>,
  total: number,
  finish: () => Promise<void>,
): Promise<LoadFigures> {
  const started = performance.now()
  const finishing = finish()
  let arrivals = await receiver.ask<Arrivals>({})
  while (arrivals.unique < total) {
    if (performance.now() - started > DRAIN_MS_MAX) throw new Error('not all webhooks arrived in time')
    await delay(POLL_MS)
    arrivals = await receiver.ask<Arrivals>({})
  }
  const seconds = (performance.now() - started) / 1_000
  await finishing
  const { p50Ms, p99Ms, posts, unique } = await receiver.ask<Arrivals>({ reset: true })
  return { perSecond: total / seconds, p50Ms, p99Ms, succeeded: total, failed: posts - unique }
}

/**
 * Waits until the worker has recorded the result of every delivery, because recording is a part of the cost of a
 * delivery.
 */
async function waitUntilRecorded(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const deadline = performance.now() + DRAIN_MS_MAX
  for (;;) {
    const { rows } = await client.query(`select 1 from deliveries where status = 'pending' limit 1`)
    if (rows.length === 0) break
    if (performance.now() > deadline) throw new Error('not all webhooks were recorded in time')
    await delay(POLL_MS)
  }
  await client.end()
}
