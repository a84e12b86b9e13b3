import type { LoadFigures, LoadOrder } from '../load.ts'
import type { Results } from '../report.ts'
import { seedKeys } from '../seed-keys.ts'
import type { World } from '../world.ts'
import { get, postPayment } from './requests.ts'

/** One workspace sends as many payments as it can, over this many connections. */
const LOUD_CONNECTIONS = 100
const LOUD_KEYS = 4_000
/** The other workspaces send few requests, at a steady rate. */
const QUIET_CONNECTIONS = 10
const QUIET_PER_SECOND = 40
const SECONDS = 5
const ROUNDS = 3

/** How much slower the requests of other workspaces are while one workspace is at full load. */
export async function measureFairness(world: World): Promise<Results> {
  const { url } = await world.server()
  const [loudTarget, ...others] = world.targets
  const [load, loudLoad] = world.loads
  if (loudTarget === undefined || load === undefined || loudLoad === undefined) throw new Error('too small a world')
  const keys = await seedKeys(world.databaseUrl, loudTarget.accountId, LOUD_KEYS)
  const loud: LoadOrder = {
    url,
    connections: LOUD_CONNECTIONS,
    seconds: SECONDS,
    requests: keys.map((key) => postPayment({ ...loudTarget, key })),
  }
  const steady = { url, connections: QUIET_CONNECTIONS, seconds: SECONDS, perSecond: QUIET_PER_SECOND }
  const orders = {
    reads: { ...steady, requests: others.map((target) => get(`/v1/agents/${target.agentId}`, target)) },
    payments: { ...steady, requests: others.map(postPayment) },
  } satisfies Record<string, LoadOrder>
  const p99 = { reads: [[], []], payments: [[], []] } as Record<keyof typeof orders, [number[], number[]]>
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const kind of ['reads', 'payments'] as const) {
      await world.advanceClock()
      const alone = await load.ask<LoadFigures>([orders[kind]])
      const [beside] = await Promise.all([load.ask<LoadFigures>([orders[kind]]), loudLoad.ask<LoadFigures>([loud])])
      if (round === 0) continue // warm-up
      p99[kind][0].push(alone.p99Ms)
      p99[kind][1].push(beside.p99Ms)
    }
  }
  return {
    figures: (['reads', 'payments'] as const).flatMap((kind) => {
      const [alone, beside] = p99[kind]
      const ratios = beside.map((value, round) => value / (alone[round] ?? Number.NaN))
      return [
        { name: `p99 of other workspaces' ${kind}, beside one at full load`, unit: 'ms', values: beside, floor: alone },
        { name: `the same, as a multiple of p99 without it`, unit: 'ratio', values: ratios, aim: 'at most 2' },
      ] as const
    }),
  }
}
