import type { Config } from '../config.ts'
import type { Clock } from '../lib/clock.ts'
import { nameOf, type Finding } from './finding.ts'
import { assessSkew } from './assess-skew.ts'

const REQUEST_MS_MAX = 8_000
/** An id of the right form that nothing has: that it is absent is told only to those whose credentials hold. */
const ABSENT_WALLET_PATH = '/v1/wallets/c00000000000000000000000'
/** `Date` counts whole seconds: on average it is half a second behind. */
const DATE_ROUNDING_MS = 500

/** The enclave provider: reachable, with our credentials, and of the same time as we are. */
export async function checkEnclave(
  { apiUrl, appId, appSecret }: Config['enclave'],
  clock: Clock,
): Promise<readonly Finding[]> {
  const name = `enclave (${new URL(apiUrl).host})`
  const credentials = Buffer.from(`${appId}:${appSecret}`).toString('base64')
  const before = clock.now()
  let response: Response
  try {
    response = await fetch(`${apiUrl}${ABSENT_WALLET_PATH}`, {
      headers: { authorization: `Basic ${credentials}`, 'privy-app-id': appId, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    })
  } catch (error) {
    const todo = "Check PRIVY_API_URL, and this machine's way out."
    return [{ level: 'fail', name, seen: `it cannot be reached (${nameOf(error)})`, todo }]
  }
  const ours = new Date((before.getTime() + clock.now().getTime()) / 2)
  await response.body?.cancel()
  return [judgeStatus(name, response.status), judgeDate(ours, response.headers.get('date'))]
}

function judgeStatus(name: string, status: number): Finding {
  if (status === 404) return { level: 'ok', name, seen: 'it responds and accepts the credentials' }
  if (status === 401 || status === 403) {
    const todo = 'Check PRIVY_APP_ID and PRIVY_APP_SECRET: both must belong to one app.'
    return { level: 'fail', name, seen: `it refuses the credentials (${status})`, todo }
  }
  const todo = 'Is PRIVY_API_URL the address of the provider? Otherwise look at its status page, and try again.'
  return { level: status === 429 ? 'warn' : 'fail', name, seen: `it responds with ${status}`, todo }
}

function judgeDate(ours: Date, header: string | null): Finding {
  const name = 'clock, beside the enclave'
  const theirs = new Date(header ?? '')
  if (Number.isNaN(theirs.getTime())) return { level: 'warn', name, seen: 'the enclave does not tell its time' }
  return assessSkew(name, { ours, theirs: new Date(theirs.getTime() + DATE_ROUNDING_MS) })
}
