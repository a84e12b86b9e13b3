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
  /** Signs and returns the response. Receives what was ordered to happen afterwards. */
  readonly sign: (options: { keep: KeepAnswer; fault: StatusFault | null }) => Promise<T>
}

/**
 * Signs, unless a fault was ordered for this request. In that case nothing is signed, except for faults that happen
 * after the signing.
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
  // The provider stores the response that it gave: this failure, or the true response if the failure came from a
  // gateway.
  if (answer.lands === true) await sign({ keep: error.kept ? () => undefined : keep, fault: null })
  throw error
}
