import { caip2Of, type Mode } from '../addresses.ts'

export const FAULTS = ['reject', 'unavailable', 'timeout', 'lost_response'] as const
export type Fault = (typeof FAULTS)[number]

export interface EnclaveControl {
  /** The next `count` signing requests meet the fault. */
  orderFault(fault: Fault, count: number): Promise<void>
  /** The next `count` USDC transfers revert on the chain. */
  failTransfers(mode: Mode, count: number): Promise<void>
}

/** The enclave's process is on this machine, and answers at once. */
const ANSWER_MS_MAX = 5_000

export function connectEnclaveControl({ url, token }: { url: string; token: string }): EnclaveControl {
  const post = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${url}/control/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-enclave-control': token },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`the enclave's control endpoint answered ${response.status}: ${text}`)
  }
  return {
    orderFault: (fault, count) => post('faults', { fault, count }),
    failTransfers: (mode, count) => post('fail-transfers', { caip2: caip2Of(mode), count }),
  }
}
