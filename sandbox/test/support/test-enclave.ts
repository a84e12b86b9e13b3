import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetchOnce } from '../../src/lib/fetch-once.ts'
import type { Fault } from '../../src/enclave/faults.ts'
import type { Profile } from '../../src/enclave/pace.ts'
import { findProgram, shareCompileCache } from '../../src/processes/programs.ts'
import { loadSdk } from './test-client.ts'
import type { SdkClient } from './test-client.ts'

export const APP_ID = 'app-test'
export const CAIP2 = 'eip155:84532'
export const APP_SECRET = 'secret-test'
const CLIENT_TIMEOUT_MS = 30_000
const CONTROL_TOKEN = 'control-test'

export interface TestEnclave {
  readonly url: string
  readonly dataDir: string
  readonly client: SdkClient
  /** Creates a client whose requests time out after `timeoutMs`. */
  createClient(timeoutMs: number): SdkClient
  /** Sends a raw request. It has the app's credentials unless `headers` replaces them. */
  request(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string> },
  ): Promise<RawAnswer>
  orderFault(fault: Fault, count?: number): Promise<void>
  /** Calls one of the enclave's control endpoints. */
  control(path: string, body: object): Promise<void>
  /** Returns how many of the ordered faults have not happened yet. */
  countFaults(): Promise<number>
  orderFailingTransfers(count: number): Promise<void>
  moveClock(offsetMs: number): Promise<void>
  /** Kills the enclave with SIGKILL. */
  kill(): Promise<void>
  /** Asks the enclave to stop with SIGTERM, and returns its exit code. */
  stop(): Promise<number | null>
}

export interface RawAnswer {
  readonly status: number
  readonly body: { readonly error?: string; readonly code?: string } & Readonly<Record<string, unknown>>
}

export async function makeDataDir(): Promise<string> {
  return await mkdtemp(join(tmpdir(), `bursar-enclave-${randomBytes(3).toString('hex')}-`))
}

export async function removeDataDir(dataDir: string): Promise<void> {
  await rm(dataDir, { recursive: true, force: true })
}

/** Starts the enclave in its own process on a free port, as the sandbox does. */
export async function startTestEnclave(options: {
  dataDir: string
  rpcUrl: string
  /** The address for clients, if it differs from the address on which the enclave listens. */
  publicUrl?: string
  /** How fast the enclave responds: `fast` by default. A `realistic` enclave is as slow as the provider's. */
  profile?: Profile
}): Promise<TestEnclave> {
  const child = fork(fileURLToPath(findProgram('enclave')), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...shareCompileCache(),
      ENCLAVE_DATA_DIR: options.dataDir,
      ENCLAVE_APP_ID: APP_ID,
      ENCLAVE_APP_SECRET: APP_SECRET,
      ENCLAVE_CONTROL_TOKEN: CONTROL_TOKEN,
      ENCLAVE_CHAINS: JSON.stringify({ [CAIP2]: options.rpcUrl }),
      ENCLAVE_PROFILE: options.profile ?? 'fast',
      ...(options.publicUrl === undefined ? {} : { ENCLAVE_PUBLIC_URL: options.publicUrl }),
    },
  })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`The enclave ended with code ${String(code)} before it was ready.`)
  })
  const [ready] = (await Promise.race([once(child, 'message'), failed])) as [{ port: number }]
  failed.catch(() => undefined)
  const url = `http://localhost:${ready.port}`
  const control = async (path: string, body: object): Promise<void> => {
    const response = await fetchOnce(`${url}/control/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-enclave-control': CONTROL_TOKEN },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`control ${path}: ${response.status} ${await response.text()}`)
  }
  const createClient = (timeout: number): SdkClient => {
    const { PrivyClient } = loadSdk()
    return new PrivyClient({
      appId: APP_ID,
      appSecret: APP_SECRET,
      apiUrl: url,
      maxRetries: 0,
      logLevel: 'off',
      timeout,
    })
  }
  let client: SdkClient | undefined
  return {
    url,
    dataDir: options.dataDir,
    get client() {
      return (client ??= createClient(CLIENT_TIMEOUT_MS))
    },
    createClient,
    request: async (method, path, { body, headers } = {}) => {
      const response = await fetchOnce(url + path, {
        method,
        headers: {
          authorization: `Basic ${Buffer.from(`${APP_ID}:${APP_SECRET}`).toString('base64')}`,
          'privy-app-id': APP_ID,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: (await response.json()) as RawAnswer['body'] }
    },
    control,
    orderFault: async (fault, count = 1) => await control('faults', { fault, count }),
    countFaults: async () => {
      const response = await fetchOnce(`${url}/control/health`, { headers: { 'x-enclave-control': CONTROL_TOKEN } })
      return ((await response.json()) as { faults: number }).faults
    },
    orderFailingTransfers: async (count) => await control('fail-transfers', { caip2: CAIP2, count }),
    moveClock: async (clockOffsetMs) => {
      const moved = once(child, 'message')
      child.send({ clockOffsetMs })
      await moved
    },
    kill: async () => void (await end(child, 'SIGKILL')),
    stop: async () => await end(child, 'SIGTERM'),
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
  return child.exitCode
}
