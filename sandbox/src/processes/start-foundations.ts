import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Addresses, CHAIN_IDS, type Mode } from '../addresses.ts'
import { deployUsdc } from '../chain/deploy-usdc.ts'
import { type Chain, startChain } from '../chain/start-chain.ts'
import type { Profile } from '../enclave/pace.ts'
import { startPostgres } from '../postgres/start-postgres.ts'
import type { StateFile } from '../state/sandbox-state.ts'
import { checkPorts } from './check-ports.ts'
import { chainFile, logFile, postgresDir } from '../state/data-dir-layout.ts'
import { enclaveEnvironment } from './environments.ts'
import { findProgram } from './programs.ts'
import type { Supervisor } from './supervisor.ts'
import { Client } from 'pg'

const DATABASE = 'bursar'

export interface FoundationOptions {
  readonly dataDir: string
  readonly addresses: Addresses
  readonly state: StateFile
  readonly fleet: Supervisor
  /** Whether PostgreSQL waits until its data is on the disk. */
  readonly durable: boolean
  readonly enclaveProfile: Profile
  readonly onProgress: (line: string) => void
  readonly onExit: (detail: string) => void
}

export interface Foundations {
  /**
   * Resolves with the server's database as soon as it exists. The server can start to load then, while other parts are
   * still starting.
   */
  readonly databaseUrl: Promise<string>
  /** Resolves with the chains once their USDC is deployed and everything is running. */
  readonly chains: Promise<Readonly<Record<Mode, Chain>>>
  /**
   * Stops the enclave, the chains, and PostgreSQL, in this order. May be called at any time: it first waits for parts
   * that are still starting.
   */
  stop(): Promise<void>
}

/**
 * Starts everything that the server depends on, in parallel: PostgreSQL, the two chains with their USDC, and the
 * enclave.
 */
export function startFoundations(options: FoundationOptions): Foundations {
  const { addresses, dataDir, durable, enclaveProfile, state, fleet, onProgress, onExit } = options
  const { ports } = addresses
  const startOne = (mode: Mode, port: number): Promise<Chain> =>
    startChain({
      chainId: CHAIN_IDS[mode],
      port,
      stateFile: chainFile(dataDir, mode),
      onExit: (detail) => onExit(`The ${mode} chain: ${detail}.`),
    })
  const checked = checkPorts(ports, heldByLeftovers(dataDir))
  const postgres = checked.then(() =>
    startPostgres({
      dataDir: postgresDir(dataDir),
      port: ports.postgres,
      durable,
      onExit: (detail) => onExit(`${detail}.`),
    }),
  )
  const test = checked.then(() => startOne('test', ports.testChain))
  const live = checked.then(() => startOne('live', ports.liveChain))
  const enclave = checked.then(() =>
    fleet.start({
      name: 'enclave',
      file: findProgram('enclave'),
      logFile: logFile(dataDir, 'enclave'),
      env: enclaveEnvironment(addresses, { state: state.current, dataDir, profile: enclaveProfile }),
    }),
  )

  const report = async (line: string, starting: Promise<unknown>): Promise<void> => {
    await starting
    onProgress(line)
  }
  const databaseUrl = postgres.then(({ url }) => createDatabase(url))
  const prepareChains = async (): Promise<Record<Mode, Chain>> => {
    await Promise.all([
      report(`PostgreSQL on port ${ports.postgres}`, databaseUrl),
      report(
        `test chain on port ${ports.testChain}`,
        test.then(({ rpcUrl }) => deployUsdc(rpcUrl)),
      ),
      report(
        `live chain on port ${ports.liveChain}`,
        live.then(({ rpcUrl }) => deployUsdc(rpcUrl)),
      ),
      report(`enclave on port ${ports.enclave}`, enclave),
    ])
    return { test: await test, live: await live }
  }
  const chains = prepareChains()
  // If PostgreSQL fails, `databaseUrl` and `chains` both reject. A caller that gets the first rejection may never await
  // the other promise, which would then be an unhandled rejection. So both are handled here.
  databaseUrl.catch(() => undefined)
  chains.catch(() => undefined)

  return {
    databaseUrl,
    chains,
    stop: async () => {
      await stopStarted(enclave)
      await Promise.all([stopStarted(test), stopStarted(live)])
      await stopStarted(postgres)
    },
  }
}

/** Stops a part. If the start of the part failed, there is nothing to stop, and `chains` rejects with the reason. */
async function stopStarted(starting: Promise<{ stop(): Promise<void> }>): Promise<void> {
  const started = await starting.catch(() => null)
  await started?.stop()
}

/**
 * Returns the ports that the programs of a killed sandbox may still use. These ports need not be free: before
 * PostgreSQL or a chain is started, the old process is stopped.
 */
function heldByLeftovers(dataDir: string): ReadonlySet<keyof Addresses['ports']> {
  const held = new Set<keyof Addresses['ports']>()
  if (existsSync(join(postgresDir(dataDir), 'postmaster.pid'))) held.add('postgres')
  if (existsSync(`${chainFile(dataDir, 'test')}.pid`)) held.add('testChain')
  if (existsSync(`${chainFile(dataDir, 'live')}.pid`)) held.add('liveChain')
  return held
}

/** Creates the server's database unless it exists, and returns the database's address. */
async function createDatabase(superuserUrl: string): Promise<string> {
  const client = new Client({ connectionString: superuserUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`create database ${DATABASE}`)
  } finally {
    await client.end()
  }
  const url = new URL(superuserUrl)
  url.pathname = `/${DATABASE}`
  return url.href
}
