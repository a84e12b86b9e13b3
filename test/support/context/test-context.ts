import { randomBytes } from 'node:crypto'
import { readConfig, type Config } from '../../../server/src/config.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { createClock, type MovableClock } from '../../../server/src/lib/clock.ts'
import { createLogger } from '../../../server/src/lib/logger.ts'
import { openContext } from '../../../server/src/service.ts'
import { FEW_SLOTS } from '../few-slots.ts'
import { startFakeChain, type FakeChain } from '../wires/fake-chain.ts'
import { startFakeEnclave, type FakeEnclave } from '../wires/fake-enclave.ts'
import { createFreshDatabase } from '../database/fresh-database.ts'

export interface TestContext {
  readonly context: Context
  readonly config: Config
  readonly clock: MovableClock
  readonly enclave: FakeEnclave
  readonly chains: { readonly test: FakeChain; readonly live: FakeChain }
  /**
   * Opens a context that acts like a second process: it has its own database connections, but uses the same enclave and
   * chains.
   */
  openAnother(): Context
  close(): Promise<void>
}

/**
 * Opens the service's own context on a fresh database. Fake servers replace the enclave and the chains. `change` can
 * change the configuration, which contains the addresses of these servers.
 */
export async function openTestContext(change: (config: Config) => Config = (config) => config): Promise<TestContext> {
  const [database, enclave, test, live] = await Promise.all([
    createFreshDatabase(),
    startFakeEnclave(),
    startFakeChain(84532),
    startFakeChain(8453),
  ])
  const settings = {
    BASE_URL: 'http://localhost:4100',
    AUTH_URL: 'http://localhost:4101',
    SIGNER_URL: 'http://signer.localhost:4101',
    PORT: '0',
    DATABASE_URL: database.url,
    // Enough connections for races. The limit is low because many test files share the connections of one PostgreSQL.
    DATABASE_CONNECTIONS: '5',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    PRIVY_APP_ID: 'app',
    PRIVY_APP_SECRET: 'secret',
    PRIVY_API_URL: enclave.url,
    TEST_RPC_URLS: test.url,
    LIVE_RPC_URLS: live.url,
    WALLET_SLOTS: String(FEW_SLOTS),
    LOG_LEVEL: 'silent',
    ...database.settings,
  }
  const config = change(readConfig(settings))
  const clock = createClock()
  enclave.now = () => clock.now()
  const logger = createLogger('silent')
  const opened = [openContext(config, { clock, logger })]
  const [first] = opened
  if (first === undefined) throw new Error('no context was opened')
  return {
    context: first.context,
    config,
    clock,
    enclave,
    chains: { test, live },
    openAnother() {
      const another = openContext(config, { clock, logger })
      opened.push(another)
      return another.context
    },
    async close() {
      await Promise.all(opened.map((context) => context.close()))
      await Promise.all([enclave.close(), test.close(), live.close()])
      await database.drop()
    },
  }
}
