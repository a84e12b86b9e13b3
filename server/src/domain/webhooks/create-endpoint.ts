import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import { checkEvents, checkUrl } from './check-endpoint.ts'
import { ENDPOINTS_MAX, secretSealContext, type EndpointWithSecret } from './endpoint.ts'
import { insertEndpoint, listEndpointRows } from './endpoints-store.ts'

export interface EndpointRequest {
  readonly workspaceId: string
  readonly mode: Mode
  readonly url: string
  /** Some or all of `EVENT_TYPES`. */
  readonly events: readonly string[]
  readonly actor: ProvenActor
}

/**
 * Creates a webhook endpoint. Its secret is shown once. The endpoint receives events long after the session in which it
 * was created has ended, so creating one requires a recent proof of the user's presence (D59).
 *
 * Errors: 400 `url_not_allowed`, 400 for invalid events; 403 `verification_required`; 409 `endpoint_limit_reached`
 * (exact even if endpoints are created concurrently).
 */
export async function createEndpoint(
  ctx: Pick<Context, 'db' | 'clock' | 'sealer' | 'outbound'>,
  { workspaceId, mode, url, events, actor }: EndpointRequest,
): Promise<EndpointWithSecret> {
  checkUrl(ctx, url)
  const wanted = checkEvents(events)
  const now = ctx.clock.now()
  requireRecentProof(actor, now)
  const secret = createSecret(SECRET_PREFIXES.webhook)
  const endpoint = {
    id: createId('endpoint', now),
    workspaceId,
    mode,
    url,
    events: wanted,
    createdAt: now,
    failingSince: null,
    disabledAt: null,
    disabledBecause: null,
  }
  await ctx.db.transaction(async (transaction) => {
    const [, existing] = await transaction.batch([lockWorkspace(workspaceId), listEndpointRows(workspaceId, mode)])
    if (existing.length >= ENDPOINTS_MAX) {
      throw problem('endpoint_limit_reached', { details: { endpoints_max: ENDPOINTS_MAX } })
    }
    const sealed = ctx.sealer.seal(secret, secretSealContext(workspaceId, endpoint.id))
    const details = { mode, host: new URL(url).host, events: wanted }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'webhook.created', details } as const
    await transaction.commit([insertEndpoint(endpoint, sealed), insertAuditEntry({ ...entry, subject: endpoint.id })])
  })
  return { endpoint, secret }
}
