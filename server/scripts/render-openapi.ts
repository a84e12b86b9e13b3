import { addApi } from '../src/api/add-api.ts'
import { readConfig } from '../src/config.ts'
import { openHttp } from '../src/http/open-http.ts'
import { createClock } from '../src/lib/clock.ts'
import { createLogger } from '../src/lib/logger.ts'
import { SEALING_KEY_BYTES } from '../src/lib/sealing.ts'
import { openContext } from '../src/service.ts'

/** Enough of a configuration to build the routes; nothing of it is ever connected to. */
const SETTINGS = {
  BASE_URL: 'http://localhost',
  AUTH_URL: 'http://localhost',
  DATABASE_URL: 'postgres://localhost/none',
  ENCRYPTION_KEY: Buffer.alloc(SEALING_KEY_BYTES).toString('base64'),
  PRIVY_APP_ID: 'none',
  PRIVY_APP_SECRET: 'none',
  TEST_RPC_URLS: 'http://localhost',
  LIVE_RPC_URLS: 'http://localhost',
}

/** The public contract, `openapi.json`, as the routes' own schemas make it. */
export async function renderOpenapi(): Promise<string> {
  const config = readConfig(SETTINGS)
  const deps = { clock: createClock(), logger: createLogger('silent') }
  const { context, close } = openContext(config, deps)
  const http = openHttp(config, deps)
  await addApi(http, context, config)
  await http.ready()
  const contract = http.swagger()
  await http.close()
  await close()
  return `${JSON.stringify(contract, null, 2)}\n`
}
