import { createId } from '../../values/ids.ts'
import { Problem, problem } from '../../values/problem.ts'
import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import {
  INVITATION_MAX_MS,
  INVITATION_MS,
  INVITATION_USES_MAX,
  INVITATIONS_MAX,
  type Invitation,
} from './invitation.ts'
import { findMember, insertInvitation, listOpenInvitations } from './members-store.ts'
import { hasPower, mayManage, type Role } from '../../values/role.ts'

export interface InvitationRequest {
  readonly workspace: Workspace
  readonly role: Role
  readonly actor: ProvenActor
  readonly usesMax?: number
  readonly lifetimeMs?: number
}

/**
 * Creates an invitation. Its secret is shown once. A member must be an admin or an owner to invite, and can invite to
 * the same role or a lower one.
 *
 * An invitation to the role of owner or admin requires a recent proof of the user's presence (D59). An invitation to
 * the role of viewer requires no proof, because a viewer sees only what the session of the inviting user already shows.
 * To raise the viewer's role later requires a recent proof.
 *
 * Errors: 400 if `usesMax` or `lifetimeMs` is out of range; 403 `role_insufficient`, `verification_required`; 409
 * `invitation_limit_reached` (exact even under concurrent changes).
 */
export async function createInvitation(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspace, role, actor, usesMax = 1, lifetimeMs = INVITATION_MS }: InvitationRequest,
): Promise<{ invitation: Invitation; secret: string }> {
  if (!Number.isInteger(usesMax) || usesMax < 1 || usesMax > INVITATION_USES_MAX) {
    throw new Problem('validation_failed', `An invitation can be used 1 to ${INVITATION_USES_MAX} times.`)
  }
  if (!(lifetimeMs > 0 && lifetimeMs <= INVITATION_MAX_MS)) {
    throw new Problem('validation_failed', 'An invitation can be valid for at most 30 days.')
  }
  const now = ctx.clock.now()
  const secret = createSecret(SECRET_PREFIXES.invitation)
  const invitation = {
    id: createId('invitation', now),
    workspaceId: workspace.id,
    role,
    usesLeft: usesMax,
    createdBy: actor.kind === 'user' ? actor.id : null,
    createdAt: now,
    expiresAt: new Date(now.getTime() + lifetimeMs),
    revokedAt: null,
  }
  await ctx.db.transaction(async (transaction) => {
    const [, member, open] = await transaction.batch([
      lockWorkspace(workspace.id),
      findMember(workspace.id, actor.id ?? ''),
      listOpenInvitations(workspace.id, now),
    ])
    if (actor.kind !== 'operator' && (member === null || !mayManage(member.role, role))) {
      throw problem('role_insufficient')
    }
    if (hasPower(role)) requireRecentProof(actor, now)
    if (open.length >= INVITATIONS_MAX) throw problem('invitation_limit_reached')
    const details = { role, uses: usesMax, expires_at: invitation.expiresAt.toISOString() }
    const entry = { logId: workspace.id, createdAt: now, actor, action: 'invitation.created', details } as const
    await transaction.commit([
      insertInvitation(invitation, hashSecret(secret)),
      insertAuditEntry({ ...entry, subject: invitation.id }),
    ])
  })
  return { invitation, secret }
}
