import type { GrantTerms } from '../../api/wire-spending.ts'
import { addressFault, fieldFaults } from '../../format/field-errors.ts'
import type { DraftReading } from '../../format/grant-draft.ts'

const FIELDS: readonly string[] = [
  'max_per_tx_usdc',
  'daily_cap_usdc',
  'recipient_allowlist',
  'expires_at',
] satisfies readonly (keyof GrantTerms)[]

/** What the server found wrong with the terms that were sent to it, as long as they are not changed. */
export function termsFaults(
  error: unknown,
  sent: GrantTerms | undefined,
  reading: DraftReading,
): DraftReading['faults'] {
  const faults = fieldFaults(error)
  const { recipient_allowlist: other, ...rest } = faults
  if (other === undefined || sent === undefined) return faults
  const isSame = sent.recipient_allowlist.join() === reading.recipients.join()
  const fault = addressFault(error, sent.recipient_allowlist) ?? other
  return isSame ? { ...rest, recipient_allowlist: fault } : rest
}

/** The error is about the terms, and stands at its field. */
export function isAtField(error: unknown): boolean {
  return Object.keys(fieldFaults(error)).some((name) => FIELDS.includes(name))
}
