import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { Delivery, IssuedWebhook, Webhook } from './wire-developers.ts'
import { workspacePath } from './workspaces.ts'

export function webhooksQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'webhooks'],
    queryFn: async ({ signal }) =>
      (
        await request<{ webhooks: readonly Webhook[] }>('GET', `${workspacePath(slug, 'webhooks')}?mode=${mode}`, {
          signal,
        })
      ).webhooks,
  })
}

export function webhookQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...webhooksQuery(slug, mode).queryKey, id],
    queryFn: async ({ signal }) =>
      (await request<{ webhook: Webhook }>('GET', workspacePath(slug, 'webhooks', id), { signal })).webhook,
  })
}

export interface WebhookTerms {
  readonly url: string
  readonly events: readonly string[]
}

export async function createWebhook(slug: string, mode: Mode, { url, events }: WebhookTerms): Promise<IssuedWebhook> {
  const path = workspacePath(slug, 'webhooks')
  return (await request<{ webhook: IssuedWebhook }>('POST', path, { body: { mode, url, events } })).webhook
}

export async function changeWebhook(
  slug: string,
  id: string,
  change: Partial<WebhookTerms> & { readonly enabled?: boolean },
): Promise<void> {
  await request('PATCH', workspacePath(slug, 'webhooks', id), { body: { ...change } })
}

export async function deleteWebhook(slug: string, id: string): Promise<void> {
  await request('DELETE', workspacePath(slug, 'webhooks', id))
}

/** A new signing secret; for 24 hours the one before signs too. */
export async function rotateWebhookSecret(slug: string, id: string): Promise<string> {
  const path = workspacePath(slug, 'webhooks', id, 'rotate-secret')
  return (await request<{ webhook: IssuedWebhook }>('POST', path, { body: {} })).webhook.secret
}

export async function sendTestEvent(slug: string, id: string): Promise<Delivery> {
  const path = workspacePath(slug, 'webhooks', id, 'test')
  return (await request<{ delivery: Delivery }>('POST', path, { body: {} })).delivery
}

export interface ReplayRange {
  /** ISO 8601. */
  readonly from: string
  readonly to: string
  readonly only: 'failed' | 'all'
}

/** Sends the events of a range of time once more; answers how many. */
export async function replayRange(slug: string, id: string, { from, to, only }: ReplayRange): Promise<number> {
  const path = workspacePath(slug, 'webhooks', id, 'replay')
  return (await request<{ replayed: number }>('POST', path, { body: { from, to, only } })).replayed
}
