import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { startPostgres, type Postgres } from '../../../sandbox/src/postgres/start-postgres.ts'
import { waitFor } from '../wait-for.ts'

const run = promisify(execFile)

/** A PostgreSQL of its own, which a test or benchmark may stop, kill and copy. */
export interface Cluster {
  readonly dataDir: string
  /** Where PostgreSQL listens, as a superuser's URL of the database. */
  readonly url: string
  query(text: string): Promise<readonly pg.QueryResultRow[]>
  start(): Promise<void>
  stop(): Promise<void>
  /** Ends the server like a crash. */
  kill(): void
}

export interface ClusterOptions {
  readonly dataDir: string
  readonly port: number
  readonly database: string
  readonly durable?: boolean
  readonly settings?: Readonly<Record<string, string>>
}

/** With these settings, a standby can follow. `synchronous_standby_names` is set once it does. */
export const REPLICATION = {
  wal_level: 'replica',
  max_wal_senders: '4',
  hot_standby: 'on',
  synchronous_commit: 'on',
} as const

export async function openCluster({ database, ...options }: ClusterOptions): Promise<Cluster> {
  let server: Postgres = await startPostgres(options)
  const url = new URL(server.url)
  url.pathname = `/${database}`
  return {
    dataDir: options.dataDir,
    url: url.href,
    query: async (text) => {
      const client = new pg.Client({ connectionString: url.href })
      client.on('error', () => undefined)
      await client.connect()
      try {
        return (await client.query<pg.QueryResultRow>(text)).rows
      } finally {
        await client.end()
      }
    },
    start: async () => {
      server = await startPostgres(options)
    },
    stop: () => server.stop(),
    kill: () => server.kill(),
  }
}

/** Copies a cluster whose server is stopped, or has just written a checkpoint and is not used. */
export async function copyCluster(from: string, to: string): Promise<void> {
  // Unlike Node's functions, `cp` also preserves modes and owners, on which PostgreSQL insists.
  await run('cp', ['-Rp', from, to])
  await run('cp', ['-Rp', `${from}.password`, `${to}.password`])
  await rm(join(to, 'postmaster.pid'), { force: true })
}

/**
 * Makes a standby of a primary that has the settings `REPLICATION`, and lets the primary wait for it with each commit.
 * The primary is stopped meanwhile.
 */
export async function addStandby(
  primary: Cluster,
  options: Pick<ClusterOptions, 'dataDir' | 'port' | 'database' | 'durable'>,
): Promise<Cluster> {
  await primary.stop()
  await copyCluster(primary.dataDir, options.dataDir)
  await primary.start()
  const { hostname, port, username, password } = new URL(primary.url)
  // PostgreSQL reads it as its own user, who may not be ours.
  await writeFile(join(options.dataDir, 'standby.signal'), '', { mode: 0o644 })
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`
  const standby = await openCluster({ ...options, settings: { ...REPLICATION, primary_conninfo: conninfo } })
  await primary.query(`alter system set synchronous_standby_names = 'standby'`)
  await primary.query('select pg_reload_conf()')
  await waitFor('the standby to follow synchronously', async () => {
    const rows = await primary.query(`select 1 from pg_stat_replication where sync_state = 'sync'`)
    return rows.length > 0
  })
  return standby
}

/** The URL of several servers, as `DATABASE_URL` has it. */
export function urlOf(clusters: readonly Cluster[]): string {
  const urls = clusters.map(({ url }) => new URL(url))
  const [first] = urls
  if (first === undefined) throw new Error('there is no server')
  return first.href.replace(first.host, urls.map(({ host }) => host).join(','))
}
