import { countRecoveryCodes, listPasskeys } from '../domain/passkeys/queries.ts'
import { listMemberships } from '../domain/members/queries.ts'
import type { Membership } from '../domain/members/member.ts'
import type { Session } from '../domain/sessions/session.ts'
import { isProofRecent } from '../domain/require-recent-proof.ts'
import type { ConsoleContext } from './console-context.ts'
import type { Session as SessionView } from './contract/session.ts'
import type { Workspace } from './contract/workspaces.ts'

/**
 * Formats a session for the dashboard: the person, their workspaces, and how many passkeys and recovery codes they
 * have. The session's secret is never included.
 */
export async function formatSession({ ctx }: ConsoleContext, session: Session): Promise<SessionView> {
  const { userId } = session
  const [memberships, passkeys, codes] = await Promise.all([
    listMemberships(ctx, { userId }),
    listPasskeys(ctx, { userId }),
    countRecoveryCodes(ctx, { userId }),
  ])
  return {
    user: { id: userId, name: session.userName },
    workspaces: memberships.map((each) => ({ ...formatWorkspace(each), has_held_keys: each.hasHeldKeys })),
    passkeys: passkeys.length,
    recovery_codes_left: codes,
    verified: isProofRecent(session, ctx.clock.now()),
    expires_at: session.expiresAt.toISOString(),
    signer_url: ctx.signer?.origin ?? null,
  }
}

export function formatWorkspace({ workspace, role }: Membership): Workspace {
  return { slug: workspace.slug, name: workspace.name, role }
}
