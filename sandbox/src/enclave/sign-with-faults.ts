import { setTimeout as sleep } from 'node:timers/promises'
import { findAnswerFault, raiseAnswer } from './answer-faults.ts'
import type { EnclaveContext } from './context.ts'
import { ConnectionDropped } from './errors.ts'
import { isStatusFault } from './faults.ts'
import type { StatusFault } from './faults.ts'
import type { KeepAnswer } from './idempotency.ts'
import { HELD_REQUEST_MS_MAX } from './limits.ts'

export interface SigningRequest<T> {
  readonly isSponsored: boolean
  readonly keep: KeepAnswer
  readonly hungUp: AbortSignal
  /** Signs and returns the response. `fault` is the fault to apply after that, or null. */
  readonly sign: (options: { keep: KeepAnswer; fault: StatusFault | null }) => Promise<T>
}

/**
 * Executes a signing request, and applies a fault if one is switched on. With most faults, nothing is signed. Some
 * faults take effect only after the signing.
 */
export async function signWithFaults<T>(context: EnclaveContext, request: SigningRequest<T>): Promise<T> {
  const { keep, sign } = request
  const fault = context.faults.take(request)
  if (fault === null || isStatusFault(fault)) return await sign({ keep, fault })
  if (fault === 'timeout') {
    await sleep(HELD_REQUEST_MS_MAX, undefined, { signal: request.hungUp, ref: false }).catch(() => undefined)
    throw new ConnectionDropped()
  }
  const answer = findAnswerFault(fault)
  if (answer === null) {
    await sign({ keep, fault: null })
    throw new ConnectionDropped()
  }
  const error = raiseAnswer(answer)
  // If the provider stores the failure, a retry with the same idempotency key gets the failure again. Otherwise, for
  // example if a gateway sent the failure, the retry gets the response to the completed send.
  if (answer.lands === true) await sign({ keep: error.kept ? () => undefined : keep, fault: null })
  throw error
}
