import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { addressesFrom, PORTS_COUNT } from './addresses.ts'
import { checkPorts, PortInUse } from './processes/check-ports.ts'
import { startSandbox, type Sandbox, type SandboxOptions } from './start-sandbox.ts'

export interface ThrowAwaySandbox extends Sandbox {
  readonly dataDir: string
  readonly port: number
  /** Stops the sandbox and deletes its data. */
  remove(): Promise<void>
}

/** The range of ports to choose from. Systems use higher ports for outgoing connections. */
const PORT_MIN = 10_000
const PORT_MAX = 32_000
const SEARCHES_MAX = 100
/** How often to try to start. Another program may start to use one of the ports after they were checked. */
const STARTS_MAX = 5

export interface ThrowAwayOptions extends Omit<SandboxOptions, 'port' | 'dataDir'> {
  /** The data directory of a stopped sandbox. The new sandbox starts with a copy of it. */
  readonly prepared?: string
}

/** Starts a sandbox on free ports, with its data in a temporary directory, and with a fast enclave by default. */
export async function startThrowAwaySandbox({
  prepared,
  ...options
}: ThrowAwayOptions = {}): Promise<ThrowAwaySandbox> {
  const dataDir = await makeDataDir(prepared)
  const remove = (): Promise<void> => rm(dataDir, { recursive: true, force: true })
  try {
    const { sandbox, port } = await startOnFreePorts({ durable: false, enclaveProfile: 'fast', ...options, dataDir })
    return {
      ...sandbox,
      dataDir,
      port,
      remove: async () => {
        await sandbox.stop()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Creates a data directory in the system's temporary folder, empty or with a copy of what `prepared` contains. */
export async function makeDataDir(prepared?: string): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bursar-sandbox-'))
  // If we run as root, PostgreSQL runs as another user, who must be able to pass through the directory.
  await chmod(dataDir, 0o711)
  // Unlike Node's functions, `cp` also preserves modes and owners, on which PostgreSQL insists.
  if (prepared !== undefined) await promisify(execFile)('cp', ['-Rp', `${prepared}/.`, dataDir])
  return dataDir
}

/** Finds eight consecutive free ports, and returns the first one. */
export async function findFreePorts(): Promise<number> {
  for (let search = 1; search <= SEARCHES_MAX; search += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX - PORTS_COUNT)
    const isFree = await checkPorts(addressesFrom(port).ports).then(
      () => true,
      () => false,
    )
    if (isFree) return port
  }
  throw new Error(`No ${PORTS_COUNT} free consecutive ports were found.`)
}

async function startOnFreePorts(options: Omit<SandboxOptions, 'port'>): Promise<{ sandbox: Sandbox; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePorts()
    try {
      return { sandbox: await startSandbox({ ...options, port }), port }
    } catch (error) {
      if (!(error instanceof PortInUse) || attempt === STARTS_MAX) throw error
    }
  }
}
