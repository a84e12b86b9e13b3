import { ApiError } from '../api/api-error.ts'
import { formatTime } from './date.ts'
import { explainError } from './explain-error.ts'

/** Why there is no evidence of a payment, or not yet, by the reason in the details of the error. */
const REASON_TEXTS: Readonly<Record<string, string>> = {
  payment_pending: 'The payment is still pending. There is evidence when it is confirmed or has failed.',
  log_behind: 'The payment is being written to the transparency log. Try again in a few seconds.',
  signature_usable:
    'An owner signed only a few minutes ago. The evidence contains the signature, so there is none until nobody can use the signature any more.',
  not_logged: 'This payment was made before there was a transparency log, so there is no evidence of it.',
  names_other_agents:
    'An owner resumed this grant together with those of other agents, so a credential of one agent does not get the evidence.',
  too_large: 'The owners of this wallet changed so often that the evidence would be too large.',
}

/** The message to show if the evidence of a payment could not be downloaded, and when to try again. */
export function explainEvidenceError(error: unknown): string {
  const details = error instanceof ApiError ? error.details : null
  if (typeof details !== 'object' || details === null || !('reason' in details)) return explainError(error)
  const text = REASON_TEXTS[String(details.reason)]
  if (text === undefined) return explainError(error)
  const retryAt = 'retry_at' in details ? details.retry_at : null
  return typeof retryAt === 'string' ? `${text} Try again after ${formatTime(retryAt)}.` : text
}
