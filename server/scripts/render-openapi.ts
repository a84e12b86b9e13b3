import { addApi } from '../src/api/add-api.ts'
import { readConfig } from '../src/config.ts'
import { openHttp } from '../src/http/open-http.ts'
import { createClock } from '../src/lib/clock.ts'
import { createLogger } from '../src/lib/logger.ts'
import { SEALING_KEY_BYTES } from '../src/lib/sealing.ts'
import { openContext } from '../src/service.ts'

/** The settings without which the routes cannot be built. The values are dummies: no connection is ever made. */
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

/**
 * At run time, the contract names the service's own origin. In `openapi.json` the origin is a variable, because
 * everybody hosts their own service.
 */
const SERVERS = [
  {
    url: '{origin}',
    description: 'Your service.',
    variables: {
      origin: { default: 'http://localhost:4100', description: 'The setting BASE_URL. The default is the sandbox.' },
    },
  },
]

/**
 * Returns the content of `openapi.json`, which describes the public API. It is generated from the schemas of the
 * routes.
 */
export async function renderOpenapi(): Promise<string> {
  const config = readConfig(SETTINGS)
  const deps = { clock: createClock(), logger: createLogger('silent') }
  const { context, close } = openContext(config, deps)
  const http = openHttp(config, deps)
  const describeContract = await addApi(http, context, config)
  await http.ready()
  const contract = { ...describeContract(), servers: SERVERS }
  await http.close()
  await close()
  return `${JSON.stringify(contract, null, 2)}\n`
}
