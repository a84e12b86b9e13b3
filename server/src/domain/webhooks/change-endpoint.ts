import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import { checkEvents, checkUrl } from './check-endpoint.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { lockEndpoint } from './lock-endpoint.ts'
import { updateEndpoint } from './endpoints-store.ts'

export interface EndpointChange {
  readonly url?: string
  /** Some or all of `EVENT_TYPES`. */
  readonly events?: readonly string[]
  readonly enabled?: boolean
}

/**
 * Changes an endpoint's URL, the event types to which it is subscribed, or whether it is enabled. A changed
 * subscription applies to later events only. While an endpoint is disabled, no deliveries are created for it, and its
 * pending deliveries wait. When it is enabled again, overdue deliveries are sent at once. A change that sets the
 * current values has no effect.
 *
 * A new URL requires a recent proof of the user's presence, as a new endpoint does (D59). Errors: 400
 * `url_not_allowed`, 400 for invalid events; 403 `verification_required`; 404 `webhook_not_found`.
 */
export async function changeEndpoint(
  ctx: Pick<Context, 'db' | 'clock' | 'outbound'>,
  { workspaceId, id, change, actor }: { workspaceId: string; id: string; change: EndpointChange; actor: ProvenActor },
): Promise<WebhookEndpoint> {
  if (change.url !== undefined) checkUrl(ctx, change.url)
  if (change.events !== undefined) checkEvents(change.events)
  const now = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const before = await lockEndpoint(transaction, { workspaceId, id })
    const after = applyChange(before, change, now)
    if (after.url !== before.url) requireRecentProof(actor, now)
    const details = describeChange(before, after)
    if (Object.keys(details).length === 0) return before
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'webhook.changed', subject: id } as const
    await transaction.commit([
      updateEndpoint(after),
      insertAuditEntry({ ...entry, details: { mode: after.mode, ...details } }),
    ])
    return after
  })
}

function applyChange(before: WebhookEndpoint, { url, events, enabled }: EndpointChange, now: Date): WebhookEndpoint {
  const moved = {
    ...before,
    url: url ?? before.url,
    // Failures at the old URL say nothing about the new one.
    failingSince: url === undefined || url === before.url ? before.failingSince : null,
    events: events === undefined ? before.events : checkEvents(events),
  }
  const isEnabled = before.disabledAt === null
  if (enabled === undefined || enabled === isEnabled) return moved
  // An endpoint that is enabled again has the full 5 days before it is disabled for failing.
  if (enabled) return { ...moved, failingSince: null, disabledAt: null, disabledBecause: null }
  return { ...moved, disabledAt: now, disabledBecause: 'owner' }
}

/**
 * Returns the details for the audit log. They contain only the host of a URL, because its path may contain a secret.
 */
function describeChange(before: WebhookEndpoint, after: WebhookEndpoint): Record<string, unknown> {
  return {
    ...(after.url === before.url ? {} : { host: new URL(after.url).host }),
    ...(after.events.join() === before.events.join() ? {} : { events: after.events }),
    ...(after.disabledAt === before.disabledAt ? {} : { enabled: after.disabledAt === null }),
  }
}
