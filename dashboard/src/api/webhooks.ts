import type { Delivery } from '@bursar/server/src/console/contract/deliveries.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { IssuedWebhook, ReplayRange, WebhookTerms } from '@bursar/server/src/console/contract/webhooks.ts'
import { request } from './request.ts'

export async function createWebhook(slug: string, mode: Mode, { url, events }: WebhookTerms): Promise<IssuedWebhook> {
  const input = { params: { slug }, body: { mode, url, events } }
  return (await request('POST /console/workspaces/:slug/webhooks', input)).webhook
}

export async function changeWebhook(
  slug: string,
  id: string,
  change: Partial<WebhookTerms> & { readonly enabled?: boolean },
): Promise<void> {
  await request('PATCH /console/workspaces/:slug/webhooks/:id', { params: { slug, id }, body: change })
}

export async function deleteWebhook(slug: string, id: string): Promise<void> {
  await request('DELETE /console/workspaces/:slug/webhooks/:id', { params: { slug, id } })
}

/**
 * Generates a new signing secret and returns it. For 24 hours, deliveries are signed with both the old and the new
 * secret.
 */
export async function rotateWebhookSecret(slug: string, id: string): Promise<string> {
  const input = { params: { slug, id }, body: {} }
  return (await request('POST /console/workspaces/:slug/webhooks/:id/rotate-secret', input)).webhook.secret
}

export async function sendTestEvent(slug: string, id: string): Promise<Delivery> {
  const input = { params: { slug, id }, body: {} }
  return (await request('POST /console/workspaces/:slug/webhooks/:id/test', input)).delivery
}

/** Sends the events of a time range to the endpoint again. Returns how many deliveries were created. */
export async function replayRange(slug: string, id: string, range: ReplayRange): Promise<number> {
  const input = { params: { slug, id }, body: range }
  return (await request('POST /console/workspaces/:slug/webhooks/:id/replay', input)).replayed
}
