import type pg from 'pg'
import type { Counts } from './count-decision.ts'
import type { LoadFigures } from './load.ts'
import type { Series } from './measure.ts'
import { readTraffic } from './processor-time.ts'
import type { World } from './world.ts'

/** Runs a series once, and returns what one of its requests needed. */
export async function countOnce(world: World, admin: pg.Client, { name, endpoints, prepare }: Series): Promise<Counts> {
  await world.advanceClock()
  const run = await prepare(world.load)
  const pids = endpoints.map(({ process }) => process.child.pid)
  const before = await readTraffic(pids)
  const walBefore = await readWalBytes(admin)
  const { succeeded, failed, failure }: LoadFigures = await run()
  const after = await readTraffic(pids)
  const walAfter = await readWalBytes(admin)
  if (succeeded === 0 || failed > 0) throw new Error(`${name}: ${failed} requests failed (${failure ?? 'no response'})`)
  return {
    writes: (after.writes - before.writes) / succeeded,
    sentBytes: (after.sentBytes - before.sentBytes) / succeeded,
    receivedBytes: (after.receivedBytes - before.receivedBytes) / succeeded,
    walBytes: (walAfter - walBefore) / succeeded,
  }
}

/** Returns how many bytes PostgreSQL has added to its write-ahead log so far. */
async function readWalBytes(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ bytes: string }>(`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`)
  return Number(rows[0]?.bytes)
}
