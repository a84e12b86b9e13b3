import { measureOnce, type Series } from './measure.ts'
import type { World } from './world.ts'

/**
 * What a request costs, beside its floor. The floor runs directly before it, so whatever else runs on the machine
 * affects both alike.
 */
export interface Cost {
  /** The processor time of a request in the service's process, as a multiple of the floor's. */
  readonly server: number
  /** The processor time of a request in PostgreSQL, as a multiple of the floor's. */
  readonly database: number
  /**
   * How many times the service writes to a socket for one request, if it has one request at a time: once for each round
   * trip to the database, the enclave or the chain, and once for the response.
   */
  readonly writes: number
}

export interface CostSeries {
  readonly ours: Series
  /** The floor of the service's processor time, and the one of PostgreSQL's. Often they are the same. */
  readonly serverFloor: Series
  readonly databaseFloor: Series
  /** The same requests as in `ours`, one at a time. */
  readonly single: Series
}

export async function measureCost(world: World, { ours, serverFloor, databaseFloor, single }: CostSeries): Promise<Cost> {
  const least = await measureOnce(world, serverFloor)
  const leastOfDatabase = databaseFloor === serverFloor ? least : await measureOnce(world, databaseFloor)
  const measured = await measureOnce(world, ours)
  const { writes } = single === ours ? measured : await measureOnce(world, single)
  const divide = (value: number | null, by: number | null): number => (value ?? Number.NaN) / (by ?? Number.NaN)
  return {
    server: divide(measured.serverUs, least.serverUs),
    database: divide(measured.databaseUs, leastOfDatabase.databaseUs),
    writes: writes ?? Number.NaN,
  }
}
