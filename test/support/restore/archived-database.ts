import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import pg from 'pg'
import { startPostgres, type Postgres } from '../../../sandbox/src/postgres/start-postgres.ts'
import { findFreePort } from '../free-port.ts'

/** A PostgreSQL of its own that archives its log, as an operator's does for point-in-time recovery. */
export interface ArchivedDatabase {
  /** The address of the database. It stays the same after a restore. */
  readonly url: string
  /** Makes a base backup while the server works. */
  backUp(): Promise<void>
  /** Gives the current moment a name. */
  markMoment(name: string): Promise<void>
  /** Deletes the server with its data, and starts one from the base backup and the log, as the database was at a moment. */
  restore(moment: string): Promise<void>
  close(): Promise<void>
}

const ARCHIVING = { wal_level: 'replica', archive_mode: 'on' } as const

export async function openArchivedDatabase(): Promise<ArchivedDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-archived-'))
  const [dataDir, archive, backup] = ['data', 'archive', 'backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  // PostgreSQL may run as another user.
  await chmod(folder, 0o755)
  await mkdir(archive)
  await chmod(archive, 0o777)
  const port = await findFreePort()
  const start = (settings: Readonly<Record<string, string>>): Promise<Postgres> =>
    startPostgres({ dataDir, port, durable: false, settings: { ...ARCHIVING, ...settings } })
  let server = await start({ archive_command: `cp '%p' '${archive}/%f'` })
  const query = async (text: string, values: readonly string[]): Promise<void> => {
    await withClient(server.url, (client) => client.query(text, [...values]))
  }
  return {
    url: server.url,
    async backUp() {
      await withClient(server.url, async (client) => {
        await client.query("select pg_backup_start('test', true)")
        await cp(dataDir, backup, { recursive: true, filter: isPartOfBackup })
        const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()')
        await writeFile(join(backup, 'backup_label'), rows[0]?.labelfile ?? '')
      })
    },
    async markMoment(name) {
      await query('select pg_create_restore_point($1)', [name])
    },
    async restore(moment) {
      // A server that stops in order archives the rest of its log first.
      await server.stop()
      await rm(dataDir, { recursive: true })
      await cp(backup, dataDir, { recursive: true })
      await writeFile(join(dataDir, 'recovery.signal'), '')
      server = await start({
        ...{ archive_mode: 'off', restore_command: `cp '${archive}/%f' '%p'`, hot_standby: 'off' },
        ...{ recovery_target_name: moment, recovery_target_action: 'promote' },
      })
    },
    async close() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The log is in the archive, and the lock file belongs to the server that runs. */
function isPartOfBackup(path: string): boolean {
  return basename(path) !== 'postmaster.pid' && !/\/pg_wal\/[^/]+$/.test(path)
}

async function withClient<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
