import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../config.ts'
import { createClock } from '../lib/clock.ts'
import { runProviderCheck } from './run-provider-check.ts'

const USAGE = `npm run provider:check -- [--faucet] [--wait-minutes <0 to 120>]

Makes the fifteen checks of what the service relies on, at the provider of PRIVY_API_URL and on the test chain.
  --faucet        get the test USDC from FAUCET_URL, instead of sending it by hand
  --wait-minutes  how long to wait for the test USDC (default 15)
`
const WAIT_MINUTES = '15'
const WAIT_MINUTES_MAX = 120
const MS_PER_MINUTE = 60_000

const print = (text: string): void => void process.stdout.write(text)

/** The arguments or settings are not valid. The error's message says why. */
class UsageError extends Error {}

try {
  const { withFaucet, waitMs } = readArguments()
  const config = readConfig()
  const faucetUrl = config.faucet?.kind === 'endpoint' ? config.faucet.url : null
  if (withFaucet && faucetUrl === null) throw new UsageError('--faucet requires FAUCET_URL to be set.')
  process.exitCode = await runProviderCheck({
    config,
    clock: createClock(config.clockOffsetMs),
    funding: { faucetUrl: withFaucet ? faucetUrl : null, waitMs },
    print,
  })
} catch (error) {
  // Print only messages that we wrote. Messages of other errors might repeat what was sent.
  const isOurs = error instanceof ConfigError || error instanceof UsageError
  print(isOurs ? `${error.message}\n\n${USAGE}` : `The check failed unexpectedly (${nameOf(error)}). Run it again.\n`)
  process.exitCode = 1
}

function readArguments(): { withFaucet: boolean; waitMs: number } {
  const options = {
    faucet: { type: 'boolean', default: false },
    'wait-minutes': { type: 'string', default: WAIT_MINUTES },
  } as const
  let values: { faucet: boolean; 'wait-minutes': string }
  try {
    values = parseArgs({ options, allowPositionals: false }).values
  } catch {
    throw new UsageError('Unknown argument.')
  }
  const minutes = /^\d{1,3}$/.test(values['wait-minutes']) ? Number(values['wait-minutes']) : Number.NaN
  if (!(minutes <= WAIT_MINUTES_MAX)) throw new UsageError(`--wait-minutes must be from 0 to ${WAIT_MINUTES_MAX}.`)
  return { withFaucet: values.faucet, waitMs: minutes * MS_PER_MINUTE }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown error'
}
