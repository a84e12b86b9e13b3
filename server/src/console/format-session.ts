import { countRecoveryCodes, listPasskeys } from '../domain/passkeys/queries.ts'
import { listMemberships } from '../domain/members/queries.ts'
import type { Membership } from '../domain/members/member.ts'
import type { Session } from '../domain/sessions/session.ts'
import { isProofRecent } from '../domain/require-recent-proof.ts'
import type { ConsoleContext } from './console-context.ts'
import type { Session as SessionView } from './contract/session.ts'
import type { Workspace } from './contract/workspaces.ts'

/** The session as the dashboard shows it: the person, their workspaces and what they can sign in with. Never its secret. */
export async function formatSession({ ctx }: ConsoleContext, session: Session): Promise<SessionView> {
  const { userId } = session
  const [memberships, passkeys, codes] = await Promise.all([
    listMemberships(ctx, { userId }),
    listPasskeys(ctx, { userId }),
    countRecoveryCodes(ctx, { userId }),
  ])
  return {
    user: { id: userId, name: session.userName },
    workspaces: memberships.map(formatWorkspace),
    passkeys: passkeys.length,
    recovery_codes_left: codes,
    verified: isProofRecent(session, ctx.clock.now()),
    expires_at: session.expiresAt.toISOString(),
  }
}

export function formatWorkspace({ account, role }: Membership): Workspace {
  return { slug: account.slug, name: account.name, role }
}
