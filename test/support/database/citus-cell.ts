import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { migrate } from '../../../server/src/db/migrate.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { LAST_BEFORE_CITUS } from '../../house/rules/migrations.ts'
import { findTestServer, runOnServer, withServerLock } from './test-server.ts'

const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../server/migrations/', import.meta.url))
/** The number of a lock. A process has it while it creates a cell, because Citus's own tables change then. */
const CELL_LOCK = 7_301_948

export interface CitusCell {
  /** The name of the cell's schema, and of its database user. */
  readonly name: string
  readonly url: string
  drop(): Promise<void>
}

/**
 * Creates a cell on Citus: a user and its schema, whose tables are all on one worker. Citus gets the schema as an
 * operator would give it: after the migrations that are not written for it, and before all others. With `empty`, the
 * schema contains nothing, and is on the coordinator.
 */
export async function createCitusCell({ empty = false } = {}): Promise<CitusCell> {
  const name = `cell_${randomBytes(8).toString('hex')}`
  const url = new URL(findTestServer())
  url.username = name
  await withServerLock(CELL_LOCK, async () => {
    await runOnServer(`create role ${name} login`)
    await runOnServer(`create schema authorization ${name}`)
    if (!empty) await fillCell(name, url.href)
  })
  return {
    name,
    url: url.href,
    drop: () =>
      withServerLock(CELL_LOCK, async () => {
        await runOnServer(`drop schema ${name} cascade`)
        await runOnServer(`drop role ${name}`)
      }),
  }
}

async function fillCell(name: string, url: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-citus-'))
  try {
    const files = (await readdir(MIGRATIONS_FOLDER)).filter((file) => file.slice(0, 4) <= LAST_BEFORE_CITUS)
    for (const file of files) await cp(join(MIGRATIONS_FOLDER, file), join(folder, file))
    await migrate(url, createClock(), { folder: pathToFileURL(`${folder}/`) })
  } finally {
    await rm(folder, { recursive: true })
  }
  // The audit log has a trigger. It reads no other table, so it works on a worker.
  await runOnServer(`set citus.enable_unsafe_triggers = on; select citus_schema_distribute('${name}')`)
  await migrate(url, createClock())
}
