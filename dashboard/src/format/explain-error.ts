import { ApiError } from '../api/api-error.ts'
import { formatTime } from './date.ts'

/** What the browser says when a passkey ceremony fails (WebAuthn, section 5.1), by the name of its error. */
const CEREMONY_TEXTS: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was given: the prompt was closed, or took too long. Try again.',
  AbortError: 'The passkey prompt was interrupted. Try again.',
  InvalidStateError: 'This device already holds a passkey of yours. Use it, or another device.',
  NotSupportedError: 'This device can’t make a passkey that Bursar accepts.',
  ConstraintError: 'This device can’t check that it is you, by fingerprint, face or code. Use another one.',
  SecurityError: 'Passkeys don’t work at this address. Open Bursar at the address it is set up for.',
}

/** A sentence for the person, whatever went wrong. */
export function explainError(error: unknown): string {
  if (error instanceof ApiError) return explainAnswer(error)
  const name = error instanceof Error ? error.name : ''
  return CEREMONY_TEXTS[name] ?? 'Something went wrong. Try again.'
}

/** Where the answer knows when to come back, so does the sentence. */
function explainAnswer({ message, details }: ApiError): string {
  const retryAt =
    typeof details === 'object' && details !== null && 'retry_at' in details ? details.retry_at : undefined
  return typeof retryAt === 'string' ? `${message} That is at ${formatTime(retryAt)} at the latest.` : message
}
