import { ConfigError, type Config } from '../config.ts'
import { Database } from '../db/database.ts'
import type { Clock } from '../lib/clock.ts'
import { createLogger } from '../lib/logger.ts'
import { checkDashboard } from './check-dashboard.ts'
import { checkDatabase } from './check-database.ts'
import { checkEnclave } from './check-enclave.ts'
import { checkGas } from './check-gas.ts'
import { checkNode } from './check-node.ts'
import { checkSealed } from './check-sealed.ts'
import { checkSites } from './check-sites.ts'
import { runCheck, type Finding } from './finding.ts'

export interface DoctorOptions {
  /** Throws a `ConfigError` that names what is wrong. */
  readonly readConfig: () => Config
  readonly clock: Clock
  /** Is told each finding, in order. */
  readonly tell: (finding: Finding) => void
  /** Certificates to trust instead of the usual ones. */
  readonly ca?: string
}

/**
 * Looks at everything that the service needs, changes nothing, and returns the exit code: 1 when a check failed. Checks
 * run side by side, each for a bounded time.
 */
export async function runDoctor({ readConfig, clock, tell, ca }: DoctorOptions): Promise<number> {
  const name = 'configuration'
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const todo = 'Set what is named in the environment (README, "Run it for real"), then run the doctor again.'
    tell({ level: 'fail', name, seen: error.message, todo })
    return 1
  }
  tell(judgeEnvironment(name, config))
  const logger = createLogger('silent')
  const db = new Database({ url: config.database.url, connectionsMax: 1 }, logger)
  let failed = false
  try {
    const checks = [
      runCheck('database', async () => await checkDatabase(config.database.url, clock)),
      runCheck('ENCRYPTION_KEY', async () => await checkSealed(db, config.encryptionKey)),
      ...[config.chains.test, config.chains.live].flatMap((settings) => [
        ...settings.rpcUrls.map((rpcUrl, index) =>
          runCheck(
            `${settings.mode} chain, node ${index + 1}`,
            async () => await checkNode(settings, { rpcUrl, place: index + 1, clock }),
          ),
        ),
        runCheck(`${settings.mode} gas`, async () => await checkGas(db, settings, { logger })),
      ]),
      runCheck('enclave', async () => await checkEnclave(config.enclave, clock)),
      runCheck('dashboard', async () => await checkDashboard(config)),
      runCheck('sites', async () => await checkSites(config, ca === undefined ? { clock } : { clock, ca })),
    ]
    for (const check of checks) {
      for (const finding of await check) {
        failed ||= finding.level === 'fail'
        tell(finding)
      }
    }
  } finally {
    await db.close()
  }
  return failed ? 1 : 0
}

/** The movable clock and webhooks to loopback are for this machine alone: a public address asks for production. */
function judgeEnvironment(name: string, { production, baseUrl }: Config): Finding {
  if (production) return { level: 'ok', name, seen: 'complete, for production' }
  const { protocol, hostname } = new URL(baseUrl)
  const isPublic = protocol === 'https:' && hostname !== 'localhost'
  const todo = 'Set BURSAR_ENV=production where others can reach the service.'
  return { level: isPublic ? 'warn' : 'ok', name, seen: 'complete, for development', todo }
}
