import type { StoredEvent } from './event.ts'

/**
 * The envelope of an event (D42) as JSON. The same bytes each time, whoever asks and whenever: they are what a delivery's
 * signature is of.
 */
export function formatEvent(event: Omit<StoredEvent, 'accountId'>, accountSlug: string): string {
  const { id, type, createdAt, mode, dataText } = event
  const head = JSON.stringify({ id, type, created_at: createdAt.toISOString(), mode, account_slug: accountSlug })
  return `${head.slice(0, -1)},"data":${dataText}}`
}
