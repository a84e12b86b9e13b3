import { ApiError } from '../api/api-error.ts'

/** What the server found wrong with which field, by the field's name: a list's entries count as the list. */
export function fieldFaults(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError) || !Array.isArray(error.details)) return {}
  const faults: Record<string, string> = {}
  for (const detail of error.details as readonly unknown[]) {
    if (typeof detail !== 'object' || detail === null || !('path' in detail)) continue
    const { path } = detail
    const name = typeof path === 'string' ? (path.split(/[./[]/).find((part) => part !== '') ?? '') : ''
    const message = 'message' in detail && typeof detail.message === 'string' ? detail.message : error.message
    if (name !== '') faults[name] ??= sentence(message)
  }
  return faults
}

/** `must be …`, as a remark under the field that it is about. */
function sentence(message: string): string {
  const text = message.startsWith('must ') ? `It ${message}` : message
  return /[.!?]$/.test(text) ? text : `${text}.`
}
