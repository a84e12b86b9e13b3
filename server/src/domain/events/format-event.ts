import type { StoredEvent } from './event.ts'

/**
 * Returns the JSON envelope of an event (D42). It is the same sequence of bytes every time, because deliveries are
 * signed over it.
 */
export function formatEvent(event: Omit<StoredEvent, 'accountId'>, accountSlug: string): string {
  const { id, type, createdAt, mode, dataText } = event
  const head = JSON.stringify({ id, type, created_at: createdAt.toISOString(), mode, account_slug: accountSlug })
  return `${head.slice(0, -1)},"data":${dataText}}`
}
