import { setTimeout as sleep } from 'node:timers/promises'
import type { EnclaveContext } from './context.ts'
import { ApiError, ConnectionDropped, policyViolation } from './errors.ts'
import { HELD_REQUEST_MS_MAX } from './limits.ts'
import type { WalletRecord } from './records.ts'
import { sendTransaction, type SendOrder } from './send-transaction.ts'

/** Sends, unless a fault was ordered for this request: then nothing is signed, but for `lost_response`, whose answer alone is lost. */
export async function sendWithFaults(
  context: EnclaveContext,
  wallet: WalletRecord,
  { hungUp, ...request }: SendOrder & { hungUp: AbortSignal },
): Promise<unknown> {
  const fault = context.faults.take()
  if (fault === 'reject') throw policyViolation()
  if (fault === 'unavailable') throw new ApiError(503, 'The service is unavailable', { kept: false })
  if (fault === 'timeout') {
    await sleep(HELD_REQUEST_MS_MAX, undefined, { signal: hungUp, ref: false }).catch(() => undefined)
    throw new ConnectionDropped()
  }
  const answer = await sendTransaction(context, wallet, request)
  if (fault === 'lost_response') throw new ConnectionDropped()
  return answer
}
