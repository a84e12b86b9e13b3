import { rm } from 'node:fs/promises'
import { addressesFrom } from '../../../sandbox/src/addresses.ts'
import { serverEnvironment } from '../../../sandbox/src/processes/environments.ts'
import { startSandbox, type Sandbox } from '../../../sandbox/src/start-sandbox.ts'
import { openState } from '../../../sandbox/src/state/sandbox-state.ts'
import { findFreePorts, makeDataDir } from '../../../sandbox/src/throw-away-sandbox.ts'
import type { QueryResultRow as Row } from 'pg'
import type { Mode } from '../../../server/src/values/mode.ts'
import { startStatementGate, type StatementGate } from '../database/statement-gate.ts'
import { startEnclaveProxy, type EnclaveProxy } from '../wires/enclave-proxy.ts'
import { call, type JsonAnswer } from '../http-client.ts'
import { FEW_SLOTS } from '../few-slots.ts'
import { prepareSandbox } from './prepared-sandbox.ts'
import { findSandboxDatabase } from './sandbox-database.ts'
import { share } from './share.ts'
import { openUsdcChain, type UsdcChain } from './usdc-chain.ts'

/** Calls the sandbox's control API. Throws if the call fails. */
export type Control = (path: string, body?: object) => Promise<JsonAnswer>

/** A whole sandbox with its data in a temporary folder, with functions that tests use to control it. */
export interface SandboxFixture {
  readonly sandbox: Sandbox
  readonly dataDir: string
  readonly port: number
  readonly baseUrl: string
  readonly chains: Readonly<Record<Mode, UsdcChain>>
  /** The proxy between the service and the enclave. */
  readonly enclave: EnclaveProxy
  /** Settings for the server. Changes have an effect when the server is started again. */
  readonly serverEnv: Record<string, string>
  /** The URL of the database that the sandbox's own server uses. */
  readonly databaseUrl: string
  /** Returns the server's whole environment. With it, tests can open parts of the server in their own process. */
  environment(): Record<string, string>
  control: Control
  advanceClock(seconds: number): Promise<void>
  /** Queries PostgreSQL directly, without the service. */
  query(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** A sandbox that only one test file uses, so the tests can change anything in it. */
export interface OwnSandboxFixture extends SandboxFixture {
  close(): Promise<void>
}

const ENCLAVE_OFFSET = 3

export interface SandboxFixtureOptions {
  /**
   * Returns settings of the server. The function receives the first of the sandbox's ports and the URL of its database,
   * so that the settings can contain the addresses of proxies in front of the sandbox's programs.
   */
  readonly serverEnv?: (port: number, databaseUrl: string) => Record<string, string> | Promise<Record<string, string>>
}

/**
 * Opens the sandbox that the test files of this folder share. Each file creates its own workspaces. No file may change
 * the clock, the processes or the chains of the sandbox.
 */
export function openSharedSandboxFixture(): Promise<SandboxFixture> {
  return share('sandbox fixture', openSandboxFixture)
}

/**
 * Opens a sandbox that several test files share and whose clock they may move. Each file creates its own workspaces. At
 * the start of a file, the clock may already be ahead.
 */
export function openClockFixture(): Promise<SandboxFixture> {
  return share('sandbox fixture with a clock', openSandboxFixture)
}

/** The number of confirmations that the service waits for on the test chain of `openMinedFixture()`. */
export const MINED_CONFIRMATIONS = 3

/**
 * Opens a sandbox that several test files share and whose test chain contains only the blocks that they mine. They may
 * replace blocks, stop the server and move the clock.
 */
export function openMinedFixture(): Promise<SandboxFixture> {
  return share('sandbox fixture with mined blocks', async () => {
    const serverEnv = (): Record<string, string> => ({ TEST_CONFIRMATIONS: String(MINED_CONFIRMATIONS) })
    const fixture = await openSandboxFixture({ serverEnv })
    await fixture.control('/chains/test', { mining: false })
    return fixture
  })
}

/** Opens a sandbox that several test files share and whose server logs everything. */
export function openTracedFixture(): Promise<SandboxFixture> {
  return share('sandbox fixture with traces', () => openSandboxFixture({ serverEnv: () => ({ LOG_LEVEL: 'trace' }) }))
}

/** A sandbox whose server is connected to PostgreSQL through a gate. */
export interface GatedFixture extends SandboxFixture {
  readonly database: StatementGate
}

/**
 * Opens a sandbox that several test files share and whose server they kill at a statement. They may also move the clock
 * and the time of the chains.
 */
export function openGatedFixture(): Promise<GatedFixture> {
  return share('sandbox fixture with a gate', async () => {
    let database: StatementGate | undefined
    try {
      const fixture = await openSandboxFixture({
        serverEnv: async (_port, databaseUrl) => {
          database = await startStatementGate(databaseUrl)
          return { DATABASE_URL: database.url }
        },
      })
      if (database === undefined) throw new Error('the sandbox has no gate')
      const gate = database
      const close = async (): Promise<void> => {
        await fixture.close()
        await gate.close()
      }
      return { ...fixture, database: gate, close }
    } catch (error) {
      await database?.close()
      throw error
    }
  })
}

export async function openSandboxFixture(options: SandboxFixtureOptions = {}): Promise<OwnSandboxFixture> {
  const [port, dataDir] = await Promise.all([findFreePorts(), prepareSandbox().then(makeDataDir)])
  const enclave = await startEnclaveProxy(() => port + ENCLAVE_OFFSET)
  const removeAll = async (): Promise<void> => {
    await enclave.close()
    await rm(dataDir, { recursive: true, force: true })
  }
  const { url: databaseUrl, query } = findSandboxDatabase({ dataDir, port })
  const serverEnv = { ...(await options.serverEnv?.(port, databaseUrl)) }
  let sandbox: Sandbox
  try {
    sandbox = await startSandbox({
      port,
      dataDir,
      serverEnv,
      enclaveUrl: enclave.url,
      enclaveProfile: 'fast',
      walletSlots: FEW_SLOTS,
      memory: 'large',
    })
  } catch (error) {
    await removeAll()
    throw error
  }
  const { facts } = sandbox
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
      const { current: state } = openState(dataDir)
      return { ...serverEnvironment({ addresses, state, databaseUrl, dataDir, walletSlots: FEW_SLOTS }) }
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
