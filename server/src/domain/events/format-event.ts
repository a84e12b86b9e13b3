import type { StoredEvent } from './event.ts'

/**
 * Returns the JSON envelope of an event (D42). Every call for the same event returns the same bytes, because each
 * delivery signs them.
 */
export function formatEvent(event: Omit<StoredEvent, 'workspaceId'>, workspaceSlug: string): string {
  const { id, type, createdAt, mode, dataText } = event
  const head = JSON.stringify({ id, type, created_at: createdAt.toISOString(), mode, account_slug: workspaceSlug })
  return `${head.slice(0, -1)},"data":${dataText}}`
}
