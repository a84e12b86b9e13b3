import { fetchOnce } from '../lib/fetch-once.ts'
import { caip2Of, type Mode } from '../addresses.ts'
import type { Fault, SendFault } from '../enclave/faults.ts'
import type { Profile } from '../enclave/pace.ts'
import type { RepeatedReference } from '../enclave/references.ts'

/**
 * A request for random faults: the given share of all sends gets a random fault out of `faults` (by default, out of all
 * faults).
 */
export interface RandomFaults {
  readonly share: number
  readonly seed: number
  readonly faults?: readonly SendFault[]
}

export interface EnclaveControl {
  /** Applies the fault to the next `count` requests that can have this fault. */
  injectFault(fault: Fault, count: number): Promise<void>
  injectRandomFaults(random: RandomFaults): Promise<void>
  /** Cancels all requested faults that have not been applied yet. */
  clearFaults(): Promise<void>
  /** Returns how often each fault was applied since the enclave was started. */
  countInjectedFaults(): Promise<Readonly<Record<string, number>>>
  /** Makes the next `count` USDC transfers revert on the chain. */
  failTransfers(mode: Mode, count: number): Promise<void>
  /** Sets how far the enclave's clock differs from the server's. */
  setClockSkew(skewMs: number): Promise<void>
  chooseProfile(profile: Profile): Promise<void>
  /** Chooses what happens to a send whose reference id an earlier send has. */
  chooseRepeatedReference(repeated: RepeatedReference): Promise<void>
  /** Removes all responses that are stored under idempotency keys, as if 24 hours had passed. */
  forgetAnswers(): Promise<void>
}

/**
 * The time limit for a response of the enclave. The enclave runs on this machine and responds at once, so the limit can
 * be short.
 */
const ANSWER_MS_MAX = 5_000

export function connectEnclaveControl({ url, token }: { url: string; token: string }): EnclaveControl {
  const call = async (path: string, request: RequestInit): Promise<string> => {
    const response = await fetchOnce(`${url}/control/${path}`, {
      ...request,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`the enclave's control endpoint responded with ${response.status}: ${text}`)
    return text
  }
  const authorized = { 'x-enclave-control': token }
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json', ...authorized }
    await call(path, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  return {
    injectFault: (fault, count) => post('faults', { fault, count }),
    injectRandomFaults: (random) => post('faults', { fault: 'random', ...random }),
    clearFaults: () => post('faults', { fault: 'none' }),
    countInjectedFaults: async () => {
      const { met } = JSON.parse(await call('faults', { headers: authorized })) as { met: Record<string, number> }
      return met
    },
    failTransfers: (mode, count) => post('fail-transfers', { caip2: caip2Of(mode), count }),
    setClockSkew: (skewMs) => post('clock', { skew_ms: skewMs }),
    chooseProfile: (profile) => post('profile', { profile }),
    chooseRepeatedReference: (repeated) => post('references', { repeated }),
    forgetAnswers: () => post('forget-answers', {}),
  }
}
