import { getWorkspace } from '../../../server/src/domain/workspaces/get-workspace.ts'
import { createInvitation } from '../../../server/src/domain/members/create-invitation.ts'
import { getInvitation } from '../../../server/src/domain/members/queries.ts'
import { Problem } from '../../../server/src/values/problem.ts'
import { DEMO_SLUG } from './seed-demo.ts'
import type { ControlContext } from './control-context.ts'

/**
 * How many people can use one invitation link. Everybody who opens it becomes an owner: developers, colleagues, tests.
 */
const USES_MAX = 100
const LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000
/** When the sandbox starts, it replaces a link that expires sooner than this. */
const LEFT_MS_MIN = 7 * 24 * 60 * 60 * 1_000

/**
 * Returns the link with which anybody on this machine can become an owner of the demo workspace. The link stays the
 * same across restarts until it is about to expire.
 */
export async function ensureInvitation(control: ControlContext): Promise<string> {
  const { state, addresses } = control
  const kept = state.current.invitation
  const secret = kept !== undefined && (await isGood(control, kept)) ? kept : await invite(control)
  if (secret !== kept) state.update({ invitation: secret })
  return `${addresses.authUrl}/invite/${secret}`
}

async function invite({ context }: ControlContext): Promise<string> {
  const workspace = await getWorkspace(context, DEMO_SLUG)
  const options = {
    workspace,
    role: 'owner',
    actor: { kind: 'operator' },
    usesMax: USES_MAX,
    lifetimeMs: LIFETIME_MS,
  } as const
  return (await createInvitation(context, options)).secret
}

async function isGood({ context }: ControlContext, secret: string): Promise<boolean> {
  try {
    const { invitation } = await getInvitation(context, { secret })
    return invitation.expiresAt.getTime() - context.clock.now().getTime() > LEFT_MS_MIN
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
