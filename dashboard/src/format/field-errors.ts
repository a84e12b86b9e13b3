import { ApiError, hasCode } from '../api/api-error.ts'
import { formatShortAddress } from './address.ts'

/**
 * Returns the server's validation errors by field name, at most one per field. An error in an entry of a list is
 * returned under the name of the list.
 */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError) || !Array.isArray(error.details)) return {}
  const errors: Record<string, string> = {}
  for (const detail of error.details as readonly unknown[]) {
    if (typeof detail !== 'object' || detail === null || !('path' in detail)) continue
    const { path } = detail
    const name = typeof path === 'string' ? (path.split(/[./[]/).find((part) => part !== '') ?? '') : ''
    const message = 'message' in detail && typeof detail.message === 'string' ? detail.message : error.message
    if (name !== '') errors[name] ??= sentence(message)
  }
  return errors
}

/**
 * Returns the message for an address that the server rejected, for example because its checksum is wrong. The message
 * contains the address.
 */
export function addressError(error: unknown, sent: readonly string[]): string | undefined {
  if (!hasCode(error, 'address_invalid') || !(error instanceof ApiError) || !Array.isArray(error.details)) return
  const [detail] = error.details as readonly unknown[]
  const path = typeof detail === 'object' && detail !== null && 'path' in detail ? String(detail.path) : ''
  const address = sent[Number(/\d+/.exec(path)?.[0] ?? 0)]
  if (address === undefined) return
  return `“${formatShortAddress(address)}” is not a valid address. Check every character, including upper and lower case.`
}

/** Replaces the field's name with `It`, because the message is shown under the field. */
function sentence(message: string): string {
  return message.replace(/^`[^`]*` /, 'It ')
}
