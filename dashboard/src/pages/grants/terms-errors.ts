import type { GrantTerms } from '@bursar/server/src/console/contract/grants.ts'
import { addressError, fieldErrors } from '../../format/field-errors.ts'
import type { ParsedDraft } from '../../format/grant-draft.ts'

const FIELDS: readonly string[] = [
  'max_per_tx_usdc',
  'daily_cap_usdc',
  'recipient_allowlist',
  'expires_at',
  'x402',
] satisfies readonly (keyof GrantTerms)[]

/**
 * Returns the server's errors for the submitted terms. Leaves out the error about recipients once the user has changed
 * them.
 */
export function termsErrors(error: unknown, sent: GrantTerms | undefined, parsed: ParsedDraft): ParsedDraft['errors'] {
  const errors = fieldErrors(error)
  const { recipient_allowlist: other, ...rest } = errors
  if (other === undefined || sent === undefined) return errors
  const isSame = sent.recipient_allowlist.join() === parsed.recipients.join()
  const message = addressError(error, sent.recipient_allowlist) ?? other
  return isSame ? { ...rest, recipient_allowlist: message } : rest
}

/** Whether an error is shown at one of the term fields. */
export function isFieldError(error: unknown): boolean {
  return Object.keys(fieldErrors(error)).some((name) => FIELDS.includes(name))
}
