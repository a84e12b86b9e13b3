import { execFile } from 'node:child_process'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { addressesFrom } from '../../sandbox/src/addresses.ts'
import type { Environment } from '../../sandbox/src/processes/environments.ts'
import type { AddedServer } from '../../sandbox/src/processes/servers.ts'
import { startSandbox, type Sandbox } from '../../sandbox/src/start-sandbox.ts'
import { findFreePorts, makeDataDir } from '../../sandbox/src/throw-away-sandbox.ts'
import { postgresDir } from '../../sandbox/src/state/data-dir-layout.ts'
import { copyCluster, openCluster, REPLICATION, type Cluster } from '../../test/support/database/clusters.ts'
import { FEW_SLOTS } from '../../test/support/few-slots.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { call, type JsonAnswer } from '../../test/support/http-client.ts'
import {
  createPayer,
  makeAddress,
  makeAgent,
  makeGrant,
  makeKeys,
  makeWallet,
  type PayerFixture,
} from '../../test/support/sandbox/payer-fixture.ts'
import { findSandboxDatabase } from '../../test/support/sandbox/sandbox-database.ts'
import { openUsdcChain, type UsdcChain } from '../../test/support/sandbox/usdc-chain.ts'
import { startEnclaveProxy, type EnclaveProxy } from '../../test/support/wires/enclave-proxy.ts'
import { startTcpProxy, type TcpProxy } from '../../test/support/wires/tcp-proxy.ts'
import { startRpcProxy, type RpcProxy } from './rpc-proxy.ts'

/** How often each capped payer can pay in 24 hours: ten payments are at most 0.105, and eleven are at least 0.11. */
export const CAP = 10
const CAP_USDC = '0.105'
const MAX_PER_TX_USDC = '0.02'
/** A key may make 30 payment requests a minute. */
const KEYS = 120
const DATABASE = 'bursar'
/** How far the clocks of everything are moved, so that a server's clock can also be behind them. */
export const CLOCK_MS = 120_000
/** Enough for the database and its log. */
const DISK_BYTES = 400_000_000

const run = promisify(execFile)

/**
 * The whole service, with a PostgreSQL that may be killed, and with proxies in front of the enclave, the node and
 * PostgreSQL that can fail. The servers are those that a scenario starts.
 */
export interface Lab {
  readonly sandbox: Sandbox
  readonly dir: string
  /** The folder with PostgreSQL's files, and whether it is a small file system of its own. */
  readonly disk: string
  readonly hasDisk: boolean
  readonly cluster: Cluster
  readonly chain: UsdcChain
  readonly enclave: EnclaveProxy
  readonly node: RpcProxy
  /** A proxy in front of PostgreSQL, which forgets its connections when `hang` is called. New ones work. */
  readonly database: TcpProxy & { hang(): void }
  readonly keys: readonly string[]
  /** What a scenario has started, for its disturbance. */
  standby?: Cluster
  worker?: AddedServer
  /** The servers at which agents pay. */
  readonly servers: AddedServer[]
  /** Starts a server, whose settings differ from the sandbox's by `env`. Agents pay at it unless it is a worker. */
  startServer(env?: Environment): Promise<AddedServer>
  /** Ends all servers. */
  stopServers(): Promise<void>
  /** Returns the payers for the next scenario, and their bodies. */
  nextPayers(): ScenarioPayers
  close(): Promise<void>
}

export interface ScenarioPayers {
  readonly wallets: { readonly main: string; readonly capped: string }
  bodyOf(isCapped: boolean): object
}

/** Opens the lab with payers for this number of scenarios. */
export async function openLab(scenarios: number): Promise<Lab> {
  const [port, dir] = await Promise.all([findFreePorts(), makeDataDir()])
  const enclave = await startEnclaveProxy(() => addressesFrom(port).ports.enclave)
  const sandbox = await startSandbox({
    ...{ port, dataDir: dir, enclaveUrl: enclave.url, enclaveProfile: 'fast', walletSlots: FEW_SLOTS, durable: false },
  })
  const { facts } = sandbox
  const access = { control: connectControl(facts.control_url), baseUrl: facts.base_url }
  const first = await createPayer(access, { plan: 'scale', fundUsdc: '0' })
  const keys = await makeKeys(access, first, KEYS)
  const payers: ScenarioPayers[] = []
  while (payers.length < scenarios) payers.push(await makePayers(access, first))

  await access.control('/clock', { advance_seconds: CLOCK_MS / 1_000 })
  // The servers run on a copy of the sandbox's database, because the sandbox ends if its own PostgreSQL does.
  await sandbox.killServer('SIGTERM')
  await findSandboxDatabase({ dataDir: dir, port }).query('checkpoint')
  const disk = join(dir, 'disk')
  const hasDisk = await mountDisk(disk)
  const dataDir = join(disk, 'postgres')
  await copyCluster(postgresDir(dir), dataDir)
  const cluster = await openCluster({ dataDir, port: await findFreePort(), database: DATABASE, settings: REPLICATION })
  const database = await startForgettingProxy(cluster.url)
  const node = await startRpcProxy(facts.chains.test.rpc_url)
  const servers: AddedServer[] = []
  const running: AddedServer[] = []
  const stopServers = async (): Promise<void> => {
    servers.length = 0
    await Promise.all(running.splice(0).map((server) => server.kill('SIGKILL')))
  }
  const lab: Lab = {
    stopServers,
    ...{ sandbox, dir, disk, hasDisk, cluster, enclave, node, database, keys, servers },
    chain: openUsdcChain(facts.chains.test),
    startServer: async (env = {}) => {
      const server = await sandbox.addServer({
        port: 0,
        env: { DATABASE_URL: cluster.url, TEST_RPC_URLS: node.url, STOP_DELAY_SECONDS: '0', ...env },
      })
      running.push(server)
      if (env['ROLE'] !== 'worker') servers.push(server)
      return server
    },
    nextPayers: () => {
      const next = payers.shift()
      if (next === undefined) throw new Error('the lab has no more payers')
      return next
    },
    close: async () => {
      await stopServers()
      await Promise.all([database.close(), node.close()])
      for (const one of [cluster, lab.standby]) one?.kill()
      await sandbox.stop()
      await enclave.close()
      if (hasDisk) await run('umount', [disk])
      await rm(dir, { recursive: true, force: true })
    },
  }
  return lab
}

/** Makes a small file system, which root may do on Linux. Otherwise, makes a folder and returns false. */
async function mountDisk(disk: string): Promise<boolean> {
  await mkdir(disk)
  return await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=0711`, 'tmpfs', disk]).then(
    () => true,
    async () => {
      await chmod(disk, 0o711)
      return false
    },
  )
}

type Access = Parameters<typeof createPayer>[0]

async function makePayers(access: Access, { slug, mode, key }: PayerFixture): Promise<ScenarioPayers> {
  const [main, capped] = [await makePayer('1000'), await makePayer(CAP_USDC)]
  return {
    wallets: { main: main.wallet, capped: capped.wallet },
    bodyOf: (isCapped) => (isCapped ? capped.body : main.body),
  }

  async function makePayer(dailyCapUsdc: string) {
    const [wallet, agentId] = [await makeWallet(access, { slug, mode, fundUsdc: '100' }), await makeAgent(access, key)]
    await makeGrant(access, { slug, mode, agentId, wallet }, { maxPerTxUsdc: MAX_PER_TX_USDC, dailyCapUsdc })
    return { wallet, body: { agent_id: agentId, wallet, to: makeAddress() } }
  }
}

async function startForgettingProxy(url: string): Promise<Lab['database']> {
  const connections = new Set<{ isLost: boolean }>()
  const proxy = await startTcpProxy(url, () => {
    const connection = { isLost: false }
    connections.add(connection)
    const pass = (chunk: Buffer, next: (chunk: Buffer) => void): void => {
      if (!connection.isLost) next(chunk)
    }
    return { toServer: pass, toClient: pass }
  })
  const hang = (): void => {
    for (const connection of connections) connection.isLost = true
  }
  return { ...proxy, hang }
}

function connectControl(url: string): (path: string, body?: object) => Promise<JsonAnswer> {
  return async (path, body = {}) => {
    const answer = await call(url, 'POST', path, { body })
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
}
