import { rm } from 'node:fs/promises'
import { addressesFrom } from '../../../sandbox/src/addresses.ts'
import { serverEnvironment } from '../../../sandbox/src/processes/environments.ts'
import { startSandbox, type Sandbox } from '../../../sandbox/src/start-sandbox.ts'
import { openState } from '../../../sandbox/src/state/sandbox-state.ts'
import { findFreePorts, makeDataDir } from '../../../sandbox/src/throw-away-sandbox.ts'
import type { QueryResultRow as Row } from 'pg'
import type { Mode } from '../../../server/src/values/mode.ts'
import { startEnclaveProxy, type EnclaveProxy } from '../wires/enclave-proxy.ts'
import { call, type JsonAnswer } from '../http-client.ts'
import { findSandboxDatabase } from './sandbox-database.ts'
import { share } from './share.ts'
import { openUsdcChain, type UsdcChain } from './usdc-chain.ts'

/** A call to the control API that must succeed. */
export type Control = (path: string, body?: object) => Promise<JsonAnswer>

/** A whole sandbox with its data in a temporary folder, and every hand that a test needs on it. */
export interface SandboxFixture {
  readonly sandbox: Sandbox
  readonly dataDir: string
  readonly port: number
  readonly baseUrl: string
  readonly chains: Readonly<Record<Mode, UsdcChain>>
  /** Stands in front of the enclave. */
  readonly enclave: EnclaveProxy
  /** Settings of the server from its next start on. */
  readonly serverEnv: Record<string, string>
  /** As the sandbox's own server has it. */
  readonly databaseUrl: string
  /** The server's whole environment, to open its parts in this process. */
  environment(): Record<string, string>
  control: Control
  advanceClock(seconds: number): Promise<void>
  /** Asks PostgreSQL, past the service. */
  query(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** A sandbox of its own: nobody else notices what is done in it. */
export interface OwnSandboxFixture extends SandboxFixture {
  close(): Promise<void>
}

const ENCLAVE_OFFSET = 3

export interface SandboxFixtureOptions {
  /** Settings of the server; handed the first port, since proxies may stand in front of what listens there. */
  readonly serverEnv?: (port: number) => Record<string, string> | Promise<Record<string, string>>
}

/**
 * The sandbox that the test files in this process share. They make workspaces of their own, and leave its clock, its
 * processes and its chains alone.
 */
export function openSharedSandboxFixture(): Promise<SandboxFixture> {
  return share('sandbox fixture', openSandboxFixture)
}

export async function openSandboxFixture(options: SandboxFixtureOptions = {}): Promise<OwnSandboxFixture> {
  const [port, dataDir] = await Promise.all([findFreePorts(), makeDataDir()])
  const enclave = await startEnclaveProxy(() => port + ENCLAVE_OFFSET)
  const removeAll = async (): Promise<void> => {
    await enclave.close()
    await rm(dataDir, { recursive: true, force: true })
  }
  const serverEnv = { ...(await options.serverEnv?.(port)) }
  let sandbox: Sandbox
  try {
    sandbox = await startSandbox({ port, dataDir, serverEnv, enclaveUrl: enclave.url, enclaveProfile: 'fast' })
  } catch (error) {
    await removeAll()
    throw error
  }
  const { facts } = sandbox
  const { url: databaseUrl, query } = findSandboxDatabase({ dataDir, port })
  const control = connectControl(facts.control_url)
  return {
    sandbox,
    dataDir,
    port,
    baseUrl: facts.base_url,
    chains: { test: openUsdcChain(facts.chains.test), live: openUsdcChain(facts.chains.live) },
    enclave,
    serverEnv,
    databaseUrl,
    environment: () => {
      const addresses = { ...addressesFrom(port), enclaveUrl: enclave.url }
      return { ...serverEnvironment({ addresses, state: openState(dataDir).current, databaseUrl }) }
    },
    control,
    advanceClock: async (seconds) => void (await control('/clock', { advance_seconds: seconds })),
    query,
    close: async () => {
      await sandbox.stop()
      await removeAll()
    },
  }
}

function connectControl(url: string): Control {
  return async (path, body = {}) => {
    const answer = await call(url, 'POST', path, { body })
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
}
