import { ConfigError, type Config } from '../config.ts'
import { Database } from '../db/database.ts'
import type { Clock } from '../lib/clock.ts'
import { openEgressProxy } from '../lib/outbound/egress-proxy.ts'
import { createLogger } from '../lib/logger.ts'
import { checkDashboard } from './check-dashboard.ts'
import { checkDatabase } from './check-database.ts'
import { checkEgressProxy } from './check-egress-proxy.ts'
import { checkEnclave } from './check-enclave.ts'
import { checkGas } from './check-gas.ts'
import { checkNode } from './check-node.ts'
import { checkSealed } from './check-sealed.ts'
import { checkSites } from './check-sites.ts'
import { runCheck, type Finding } from './finding.ts'

export interface DoctorOptions {
  /** Reads the configuration. Throws a `ConfigError` that says what is wrong. */
  readonly readConfig: () => Config
  readonly clock: Clock
  /** Called with each finding, in the order of the report. */
  readonly report: (finding: Finding) => void
  /** Certificate authorities to trust instead of the usual ones. */
  readonly ca?: string
}

/**
 * Checks everything that the service needs, without changing anything. Returns the exit code: 1 if a check failed. The
 * checks run at the same time, each with a time limit.
 */
export async function runDoctor({ readConfig, clock, report, ca }: DoctorOptions): Promise<number> {
  const name = 'configuration'
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const advice =
      'Correct these settings in the environment (see "Settings" in the documentation), then run the doctor again.'
    report({ level: 'fail', name, observed: error.message, advice })
    return 1
  }
  report(checkEnvironment(name, config))
  if (config.production) {
    report(checkContact(config))
    report(checkCheckpointFile(config))
  }
  const logger = createLogger('silent')
  const proxy = openEgressProxy(config.egressProxy, { logger })
  const db = new Database({ url: config.database.url, connectionsMax: 1 }, logger)
  let failed = false
  try {
    const checks = [
      runCheck('HTTPS_PROXY', async () => await checkEgressProxy(config, proxy)),
      runCheck('database', async () => await checkDatabase(config, clock)),
      runCheck('ENCRYPTION_KEY', async () => await checkSealed(db, config.encryptionKeys)),
      ...[config.chains.test, config.chains.live].flatMap((settings) => [
        ...settings.rpcUrls.map((rpcUrl, index) =>
          runCheck(
            `${settings.mode} chain, node ${index + 1}`,
            async () => await checkNode(settings, { rpcUrl, position: index + 1, clock, proxy }),
          ),
        ),
        runCheck(`${settings.mode} gas`, async () => await checkGas(db, settings, { logger, proxy })),
      ]),
      runCheck('enclave', async () => await checkEnclave(config.enclave, { clock, proxy })),
      runCheck('dashboard', async () => await checkDashboard(config)),
      runCheck('sites', async () => await checkSites(config, { clock, proxy, ...(ca === undefined ? {} : { ca }) })),
    ]
    for (const check of checks) {
      for (const finding of await check) {
        failed ||= finding.level === 'fail'
        report(finding)
      }
    }
  } finally {
    await db.close()
  }
  return failed ? 1 : 0
}

/** Servers that our agents call must be able to tell the operator about abuse (D94). */
function checkContact({ outboundContact }: Config): Finding {
  const name = 'OUTBOUND_CONTACT'
  if (outboundContact !== null) return { level: 'ok', name, observed: 'set' }
  const advice = 'Set it to an e-mail address or a page where the operators of other servers can report abuse.'
  return { level: 'warn', name, observed: 'not set', advice }
}

/** Without the file, nothing shows that the database was restored as it was earlier, and the log with it (D80). */
function checkCheckpointFile({ logCheckpointFile }: Config): Finding {
  const name = 'LOG_CHECKPOINT_FILE'
  if (logCheckpointFile !== null) return { level: 'ok', name, observed: 'set' }
  const advice = 'Set it to a file on another disk than the database, which a restore of the database does not change.'
  return { level: 'warn', name, observed: 'not set', advice }
}

/**
 * Outside production, the clock can be moved and webhooks may be sent to loopback. So a service with a public address
 * must run in production.
 */
function checkEnvironment(name: string, { production, baseUrl }: Config): Finding {
  if (production) return { level: 'ok', name, observed: 'complete, for production' }
  const { protocol, hostname } = new URL(baseUrl)
  const isPublic = protocol === 'https:' && hostname !== 'localhost'
  const advice = 'Set BURSAR_ENV=production if others can reach the service.'
  return { level: isPublic ? 'warn' : 'ok', name, observed: 'complete, for development', advice }
}
