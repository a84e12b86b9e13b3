import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { openLog } from '../../sandbox/src/lib/program-log.ts'
import { chooseRunAs, giveTo, invocation, type Invocation, type RunAs } from '../../sandbox/src/postgres/run-as.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { waitFor } from '../../test/support/wait-for.ts'

export interface Citus {
  /** The address of the coordinator's database, for a superuser. */
  readonly url: string
  readonly version: string
  /** The ports of the workers. */
  readonly workers: readonly number[]
  /** The lines of the servers' logs that report a crash. */
  listCrashes(): string[]
  stop(): Promise<void>
}

const HOST = '127.0.0.1'
const USER = 'bursar'
const DATABASE = 'bursar'
const WORKERS = 2
/** The data is thrown away, and moving a cell needs logical replication. All nodes are on this machine, so TLS is off. */
const SETTINGS = [
  ...['shared_preload_libraries=citus', 'citus.node_conninfo=sslmode=disable', 'wal_level=logical'],
  ...['max_connections=300', 'max_prepared_transactions=300', 'shared_buffers=64MB', 'autovacuum=off'],
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'unix_socket_directories='],
]

interface Node {
  readonly port: number
  readonly logFile: string
  stop(): Promise<void>
}

/** Starts a coordinator and workers on free ports, with their data in `folder`. */
export async function startCitus({ binaries, folder }: { binaries: string; folder: string }): Promise<Citus> {
  const runAs = chooseRunAs([binaries, folder])
  const nodes: Node[] = []
  const stop = async (): Promise<void> => void (await Promise.all(nodes.map((node) => node.stop())))
  try {
    for (let number = 0; number <= WORKERS; number += 1) {
      nodes.push(await startNode({ binaries, runAs, dataDir: join(folder, `node-${number}`) }))
    }
    const [coordinator, ...workers] = nodes.map(({ port }) => port)
    const url = `postgres://${USER}@${HOST}:${coordinator}/${DATABASE}`
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await client.query('select citus_set_coordinator_host($1, $2)', [HOST, coordinator])
      for (const port of workers) await client.query('select citus_add_node($1, $2)', [HOST, port])
      const { rows } = await client.query<{ version: string }>(
        `select citus_version() || ', PostgreSQL ' || current_setting('server_version') as version`,
      )
      return {
        url,
        version: rows[0]?.version ?? '',
        workers,
        listCrashes: () =>
          nodes
            .flatMap(({ logFile }) => readFileSync(logFile, 'utf8').split('\n'))
            .filter((line) => /terminated by signal|PANIC/.test(line)),
        stop,
      }
    } finally {
      await client.end()
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startNode(options: { binaries: string; runAs: RunAs; dataDir: string }): Promise<Node> {
  const { binaries, runAs, dataDir } = options
  mkdirSync(dataDir, { mode: 0o700 })
  giveTo(runAs, dataDir)
  const start = (program: string, args: readonly string[]): Invocation =>
    invocation(runAs, join(binaries, program), ['-D', dataDir, ...args])
  const initdb = start('initdb', ['-U', USER, '--auth=trust', '--no-sync', '--locale=C', '--encoding=UTF8'])
  await promisify(execFile)(initdb.file, initdb.args, { uid: initdb.uid, gid: initdb.gid, cwd: '/' })
  const port = await findFreePort()
  const settings = [...SETTINGS, `listen_addresses=${HOST}`, `port=${port}`].flatMap((setting) => ['-c', setting])
  const postgres = start('postgres', settings)
  const logFile = `${dataDir}.log`
  const log = openLog(logFile)
  const child = spawn(postgres.file, postgres.args, {
    uid: postgres.uid,
    gid: postgres.gid,
    cwd: '/',
    stdio: ['ignore', log, log],
  })
  process.once('exit', () => child.kill('SIGQUIT'))
  closeSync(log)
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')])
  const stop = async (): Promise<void> => {
    // The server ends all sessions and stops.
    child.kill('SIGINT')
    await ended
  }
  try {
    await waitFor(`the server of ${dataDir}`, () => isReady(port))
    await run(port, 'postgres', `create database ${DATABASE}`)
    await run(port, DATABASE, 'create extension citus')
  } catch (error) {
    await stop()
    throw new Error(`a server of Citus did not start: ${readFileSync(logFile, 'utf8')}`, { cause: error })
  }
  return { port, logFile, stop }
}

function isReady(port: number): Promise<boolean> {
  return run(port, 'postgres', 'select 1').then(
    () => true,
    () => false,
  )
}

async function run(port: number, database: string, text: string): Promise<void> {
  const client = new pg.Client({ host: HOST, port, user: USER, database })
  try {
    await client.connect()
    await client.query(text)
  } finally {
    await client.end()
  }
}
