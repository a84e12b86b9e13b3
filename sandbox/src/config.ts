import { resolve } from 'node:path'
import { PORTS_COUNT } from './addresses.ts'
import { PROFILES, type Profile } from './enclave/pace.ts'

export interface SandboxConfig {
  /** The first of the sandbox's eight consecutive ports. */
  readonly port: number
  /** The data directory as an absolute path. */
  readonly dataDir: string
  /** Whether the enclave's operations take as long as the real provider's, or almost no time. */
  readonly enclaveProfile: Profile
}

const PORT_DEFAULT = 4100
const DATA_DIR_DEFAULT = '.bursar'
/** The lowest allowed port. Lower ports are reserved for the system. */
const PORT_MIN = 1_024
const PORT_MAX = 65_535 - PORTS_COUNT + 1

/**
 * Thrown if the environment requests something that the sandbox cannot do. The message is one sentence for the person
 * who starts the sandbox.
 */
export class SandboxConfigError extends Error {
  override readonly name = 'SandboxConfigError'
}

/** Reads the sandbox's environment: BURSAR_PORT, BURSAR_DATA_DIR, BURSAR_ENCLAVE_PROFILE, BURSAR_ENV. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): SandboxConfig {
  if (environment['BURSAR_ENV'] === 'production') {
    throw new SandboxConfigError(
      'The sandbox holds no real money and does not run with BURSAR_ENV=production: start the server itself instead.',
    )
  }
  return {
    port: readPort(environment['BURSAR_PORT'] ?? String(PORT_DEFAULT)),
    dataDir: resolve(environment['BURSAR_DATA_DIR'] || DATA_DIR_DEFAULT),
    enclaveProfile: readProfile(environment['BURSAR_ENCLAVE_PROFILE'] || 'realistic'),
  }
}

/**
 * Throws `SandboxConfigError` if the program was started with arguments. If it ignored them, `npm run reset -- <folder>`
 * would delete the data in another folder.
 */
export function refuseArguments(): void {
  if (process.argv.length <= 2) return
  throw new SandboxConfigError(
    'This command takes no arguments. The settings of the sandbox are environment variables: BURSAR_PORT, BURSAR_DATA_DIR and BURSAR_ENCLAVE_PROFILE.',
  )
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port >= PORT_MIN && port <= PORT_MAX) return port
  throw new SandboxConfigError(
    `BURSAR_PORT must be a whole number from ${PORT_MIN} to ${PORT_MAX}, the first of ${PORTS_COUNT} ports, and is "${text}".`,
  )
}

function readProfile(text: string): Profile {
  const profile = PROFILES.find((known) => known === text)
  if (profile !== undefined) return profile
  throw new SandboxConfigError(`BURSAR_ENCLAVE_PROFILE must be one of ${PROFILES.join(', ')}, and is "${text}".`)
}
