import { randomInt } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressesFrom, PORTS_COUNT } from './addresses.ts'
import { checkPorts, PortInUse } from './processes/check-ports.ts'
import { startSandbox, type Sandbox, type SandboxOptions } from './start-sandbox.ts'

export interface ThrowAwaySandbox extends Sandbox {
  readonly dataDir: string
  readonly port: number
  /** Stops it and deletes its data. */
  remove(): Promise<void>
}

/** Below the range that systems use for outgoing connections. */
const PORT_MIN = 10_000
const PORT_MAX = 32_000
const SEARCHES_MAX = 100
/** Another program may take one of the ports between the check and the start. */
const STARTS_MAX = 5

/** Starts a sandbox on free ports, with its data in a temporary directory, and with a fast enclave by default. */
export async function startThrowAwaySandbox(
  options: Omit<SandboxOptions, 'port' | 'dataDir'> = {},
): Promise<ThrowAwaySandbox> {
  const dataDir = await makeDataDir()
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

/** An empty data directory in the system's temporary folder. */
export async function makeDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bursar-sandbox-'))
  // Under root, PostgreSQL runs as another user, who must be able to pass through.
  await chmod(dataDir, 0o711)
  return dataDir
}

/** Returns the first of seven free ports. */
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
