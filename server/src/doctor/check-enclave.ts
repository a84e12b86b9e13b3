import type { Config } from '../config.ts'
import { ABSENT_WALLET_PATH } from '../enclave/privy/enclave-client.ts'
import type { Clock } from '../lib/clock.ts'
import { createBoundedFetch } from '../lib/outbound/bounded-fetch.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import { nameOf, type Finding } from './finding.ts'
import { assessSkew } from './assess-skew.ts'

const REQUEST_MS_MAX = 8_000
const RESPONSE_BYTES_MAX = 64 * 1_024
/** A `Date` header has whole seconds, so on average it is half a second behind. */
const DATE_ROUNDING_MS = 500

/** Checks that the enclave can be reached and accepts our credentials, and that its clock agrees with ours. */
export async function checkEnclave(
  { apiUrl, appId, appSecret }: Config['enclave'],
  { clock, proxy }: { clock: Clock; proxy: EgressProxy | null },
): Promise<readonly Finding[]> {
  const name = `enclave (${new URL(apiUrl).host})`
  const credentials = Buffer.from(`${appId}:${appSecret}`).toString('base64')
  const { fetch, close } = createBoundedFetch(apiUrl, { proxy, responseBytesMax: RESPONSE_BYTES_MAX })
  const before = clock.now()
  let response: Response
  try {
    response = await fetch(`${apiUrl}${ABSENT_WALLET_PATH}`, {
      headers: { authorization: `Basic ${credentials}`, 'privy-app-id': appId, accept: 'application/json' },
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    })
  } catch (error) {
    const advice = "Check PRIVY_API_URL, and this machine's outgoing connections."
    return [{ level: 'fail', name, observed: `it cannot be reached (${nameOf(error)})`, advice }]
  } finally {
    close()
  }
  const ours = new Date((before.getTime() + clock.now().getTime()) / 2)
  return [assessStatus(name, response.status), assessDate(ours, response.headers.get('date'))]
}

function assessStatus(name: string, status: number): Finding {
  if (status === 404) return { level: 'ok', name, observed: 'it responds and accepts the credentials' }
  if (status === 401 || status === 403) {
    const advice = 'Check PRIVY_APP_ID and PRIVY_APP_SECRET. Both must belong to the same app.'
    return { level: 'fail', name, observed: `it rejects the credentials (${status})`, advice }
  }
  const advice =
    "Check that PRIVY_API_URL is the provider's address. If it is, see the provider's status page, and run the doctor again later."
  return { level: status === 429 ? 'warn' : 'fail', name, observed: `it responds with ${status}`, advice }
}

function assessDate(ours: Date, header: string | null): Finding {
  const name = 'clock, compared with the enclave'
  const theirs = new Date(header ?? '')
  if (Number.isNaN(theirs.getTime())) return { level: 'warn', name, observed: 'the enclave sends no Date header' }
  return assessSkew(name, { ours, theirs: new Date(theirs.getTime() + DATE_ROUNDING_MS) })
}
