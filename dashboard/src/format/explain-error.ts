import { ApiError } from '../api/api-error.ts'
import { SignerError } from '../signer/signer-error.ts'
import { formatTime } from './date.ts'

/** Messages for failed passkey prompts, by the name of the browser's error (WebAuthn, section 5.1). */
const CEREMONY_TEXTS: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was used: the prompt was closed or timed out. Try again.',
  AbortError: 'The passkey prompt was interrupted. Try again.',
  InvalidStateError:
    'This device already has a passkey for your account. Use that passkey, or add one on another device.',
  NotSupportedError: 'This device can’t create a passkey that Bursar accepts. Use another device.',
  ConstraintError: 'This device can’t verify you by fingerprint, face or PIN. Use another device.',
  SecurityError: 'Passkeys only work at the address that Bursar was set up for. Ask the server operator for it.',
}

/** Messages for errors of the server whose own messages are about API keys and tokens. */
const CODE_TEXTS: Readonly<Record<string, string>> = {
  workspace_moved:
    'This workspace was moved to other servers. Ask the server operator for its new address, and sign in there.',
  workspace_moving: 'This workspace is being moved to other servers. Try again in a minute.',
}

/** The message to show for any error. */
export function explainError(error: unknown): string {
  if (error instanceof ApiError) return explainApiError(error)
  if (error instanceof SignerError) return error.message
  const name = error instanceof Error ? error.name : ''
  return CEREMONY_TEXTS[name] ?? 'Something went wrong. Try again.'
}

/** The message of the server, and the time of the next retry if the server gave one. */
function explainApiError({ code, message, details }: ApiError): string {
  const text = code === undefined ? undefined : CODE_TEXTS[code]
  if (text !== undefined) return text
  const retryAt =
    typeof details === 'object' && details !== null && 'retry_at' in details ? details.retry_at : undefined
  return typeof retryAt === 'string' ? `${message} You can retry after ${formatTime(retryAt)}.` : message
}
