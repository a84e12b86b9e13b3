import { execFile, spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { addStandby, urlOf } from '../../test/support/database/clusters.ts'
import { findFreePort, isFreePort } from '../../test/support/free-port.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { CLOCK_MS, type Lab } from './lab.ts'
import { RPC_FAULTS, type RpcFault } from './rpc-proxy.ts'

/** One outage, from the start of the servers to its end. */
export interface Scenario {
  /** How long agents begin new payments. */
  readonly seconds: number
  /** Starts the servers. */
  start(lab: Lab): Promise<void>
  /** Begins some seconds after the first payment. Ends when everything works again. */
  disturb(lab: Lab): Promise<void>
}

const TAKER = 'taker'
const TAKEN_MS = 5_000

const run = promisify(execFile)

const startTwo = async (lab: Lab): Promise<void> => {
  await Promise.all([lab.startServer(), lab.startServer()])
}
const startTwoBehindProxy = async (lab: Lab): Promise<void> => {
  const env = { DATABASE_URL: lab.database.url }
  await Promise.all([lab.startServer(env), lab.startServer(env)])
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'no outage': { seconds: 20, start: startTwo, disturb: async () => undefined },
  'PostgreSQL restarted': {
    seconds: 30,
    start: startTwo,
    disturb: async ({ cluster }) => {
      await cluster.stop()
      await cluster.start()
    },
  },
  'PostgreSQL killed': {
    seconds: 30,
    start: startTwo,
    disturb: async ({ cluster }) => {
      cluster.kill()
      await delay(1_000)
      await cluster.start()
    },
  },
  'connections hang': {
    seconds: 40,
    start: startTwoBehindProxy,
    disturb: async ({ database }) => {
      database.hang()
    },
  },
  'connections cut by a proxy, three times': {
    seconds: 30,
    start: startTwoBehindProxy,
    disturb: async ({ database }) => {
      for (let cut = 1; cut <= 3; cut += 1) {
        database.cut()
        database.restore()
        await delay(4_000)
      }
    },
  },
  'read-only for 20 s': {
    seconds: 40,
    start: startTwo,
    disturb: async ({ cluster }) => {
      await cluster.query('alter system set default_transaction_read_only = on')
      await cluster.query('select pg_reload_conf()')
      await delay(20_000)
      await cluster.query('alter system reset default_transaction_read_only')
      await cluster.query('select pg_reload_conf()')
    },
  },
  'connections all taken, twice': {
    seconds: 40,
    start: startTwo,
    disturb: async (lab) => {
      await takeConnections(lab)
      await delay(5_000)
      await takeConnections(lab)
    },
  },
  'enclave away for 30 s': {
    seconds: 50,
    start: startTwo,
    disturb: async ({ enclave }) => {
      enclave.cut()
      await delay(30_000)
      enclave.restore()
    },
  },
  ...Object.fromEntries(RPC_FAULTS.map((fault) => [`node: ${fault} for 10 s`, breakNode(fault)])),
  'clocks: one process 120 s ahead': withClock(2 * CLOCK_MS),
  'clocks: one process 120 s behind': withClock(0),
  'a process killed, and started again': {
    seconds: 30,
    start: startTwo,
    disturb: async (lab) => {
      await lab.servers.shift()?.kill('SIGKILL')
      await lab.startServer()
    },
  },
  'a process stopped (SIGTERM), and started again': {
    seconds: 30,
    start: startTwo,
    disturb: async (lab) => {
      await lab.servers.shift()?.stop()
      await lab.startServer()
    },
  },
  'worker killed with every lease': {
    seconds: 30,
    start: async (lab) => {
      lab.worker = await lab.startServer({ ROLE: 'worker' })
      await waitFor('the worker has a lease', async () => (await lab.cluster.query('select 1 from leases')).length > 0)
      await Promise.all(['worker', 'api', 'api'].map((role) => lab.startServer({ ROLE: role })))
    },
    disturb: async ({ worker }) => await worker?.kill('SIGKILL'),
  },
  'pgbouncer, session mode': {
    seconds: 20,
    start: async (lab) => {
      const env = { DATABASE_URL: await startPooler(lab, 'session') }
      await Promise.all([lab.startServer(env), lab.startServer(env)])
    },
    disturb: async () => undefined,
  },
  'pgbouncer, transaction mode': {
    seconds: 0,
    start: async (lab) => {
      const env = { DATABASE_URL: await startPooler(lab, 'transaction') }
      const outcome = await lab.startServer(env).catch((error: unknown) => String(error))
      if (typeof outcome !== 'string') throw new Error('the server started with a pooler that shares sessions')
      process.stdout.write(`  refused at the start: ${outcome}\n`)
    },
    disturb: async () => undefined,
  },
  'disk full for 5 s': {
    seconds: 40,
    start: startTwo,
    disturb: async ({ cluster, disk, hasDisk }) => {
      if (!hasDisk) throw new Error('a disk that can be full needs root')
      const ballast = join(disk, 'ballast')
      // It ends with an error, because the disk is full.
      await run('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M']).catch(() => undefined)
      await delay(5_000)
      await rm(ballast)
      // PostgreSQL has recovered by itself, or its process has ended.
      await waitFor('PostgreSQL works again', async () => {
        const isUp = await cluster.query('select 1').catch(() => null)
        if (isUp === null) await cluster.start().catch(() => undefined)
        return isUp !== null
      })
    },
  },
  // The last one, because afterwards the standby is the primary.
  'primary killed, standby promoted': {
    seconds: 40,
    start: async (lab) => {
      const [dataDir, port] = [join(lab.disk, 'standby'), await findFreePort()]
      lab.standby = await addStandby(lab.cluster, { dataDir, port, database: 'bursar' })
      const env = { DATABASE_URL: urlOf([lab.standby, lab.cluster]) }
      await Promise.all([lab.startServer(env), lab.startServer(env)])
    },
    disturb: async ({ cluster, standby }) => {
      cluster.kill()
      await delay(2_000)
      await standby?.query('select pg_promote()')
    },
  },
}

function breakNode(fault: RpcFault): Scenario {
  return {
    seconds: 30,
    start: startTwo,
    disturb: async ({ node }) => {
      node.setFault(fault)
      await delay(10_000)
      node.setFault(null)
    },
  }
}

/** One of two processes has a wrong clock: the others are moved by `CLOCK_MS`. In production, the clock is the machine's. */
function withClock(offsetMs: number): Scenario {
  return {
    seconds: 20,
    start: async (lab) => {
      await Promise.all([lab.startServer(), lab.startServer({ CLOCK_OFFSET_MS: String(offsetMs) })])
    },
    disturb: async () => undefined,
  }
}

/** Takes every connection that PostgreSQL has, those of the servers included, for some seconds. */
async function takeConnections({ cluster }: Lab): Promise<void> {
  const taken: pg.Client[] = []
  const take = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: cluster.url, application_name: TAKER })
    client.on('error', () => undefined)
    await client.connect()
    taken.push(client)
  }
  const takeFree = async (): Promise<void> => {
    while ((await Promise.allSettled(Array.from({ length: 10 }, take))).every(({ status }) => status === 'fulfilled'));
  }
  await takeFree()
  // The servers open new connections at once, which are ended again.
  for (const until = performance.now() + TAKEN_MS; performance.now() < until;) {
    await taken[0]?.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where application_name <> $1 and backend_type = $2',
      [TAKER, 'client backend'],
    )
    await takeFree()
  }
  await Promise.all(taken.map((client) => client.end()))
}

/** Starts pgbouncer in front of PostgreSQL, until the program ends. Returns the URL of the database behind it. */
async function startPooler({ cluster, dir }: Lab, mode: 'session' | 'transaction'): Promise<string> {
  const [url, port, file] = [new URL(cluster.url), await findFreePort(), join(dir, `pgbouncer-${mode}.ini`)]
  const target = `host=${url.hostname} port=${url.port} user=${url.username} password=${url.password}`
  await writeFile(
    file,
    `[databases]\nbursar = ${target}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}
unix_socket_dir =\nauth_type = any\npool_mode = ${mode}\n`,
    { mode: 0o644 },
  )
  const child = spawn('pgbouncer', [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), file], { stdio: 'ignore' })
  child.unref()
  process.once('exit', () => child.kill('SIGKILL'))
  const { promise: failed, reject } = Promise.withResolvers<never>()
  child.once('error', reject)
  const listening = waitFor('pgbouncer listens', async () => !(await isFreePort(port)))
  await Promise.race([listening, failed])
  url.port = String(port)
  return url.href
}
