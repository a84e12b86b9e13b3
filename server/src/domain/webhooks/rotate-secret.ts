import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import { ROTATION_OVERLAP_MS, secretSealContext, type EndpointWithSecret } from './endpoint.ts'
import { lockEndpoint } from './lock-endpoint.ts'
import { replaceSecret } from './endpoints-store.ts'

/**
 * Gives an endpoint a new secret, which is shown once. For 24 hours, deliveries are signed with the previous secret as
 * well, so that the receiver can be updated in that time. If the secret is rotated again within the 24 hours, only the
 * newest two of the three secrets are used.
 *
 * Anybody who has the secret can forge events that the receiver accepts, so rotating requires a recent proof of the
 * user's presence (D59). Errors: 403 `verification_required`; 404 `webhook_not_found`.
 */
export async function rotateSecret(
  ctx: Pick<Context, 'db' | 'clock' | 'sealer'>,
  { workspaceId, id, actor }: { workspaceId: string; id: string; actor: ProvenActor },
): Promise<EndpointWithSecret> {
  const now = ctx.clock.now()
  requireRecentProof(actor, now)
  const secret = createSecret(SECRET_PREFIXES.webhook)
  const previousUntil = new Date(now.getTime() + ROTATION_OVERLAP_MS)
  return await ctx.db.transaction(async (transaction) => {
    const endpoint = await lockEndpoint(transaction, { workspaceId, id })
    const sealed = ctx.sealer.seal(secret, secretSealContext(workspaceId, id))
    const details = { mode: endpoint.mode }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'webhook.secret_rotated', details } as const
    await transaction.commit([
      replaceSecret(endpoint, sealed, previousUntil),
      insertAuditEntry({ ...entry, subject: id }),
    ])
    return { endpoint, secret }
  })
}
