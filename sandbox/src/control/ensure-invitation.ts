import { getAccount } from '../../../server/src/domain/accounts/get-account.ts'
import { createInvitation } from '../../../server/src/domain/members/create-invitation.ts'
import { findInvitation } from '../../../server/src/domain/members/find-invitation.ts'
import { Problem } from '../../../server/src/values/problem.ts'
import { DEMO_SLUG } from './seed-demo.ts'
import type { ControlContext } from './control-context.ts'

/** Whoever opens the link becomes an owner: a person, a colleague, a test. */
const USES_MAX = 100
const LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000
/** A link that ends sooner is replaced at the start. */
const LEFT_MS_MIN = 7 * 24 * 60 * 60 * 1_000

/** The address under which anybody on this machine becomes an owner of the demo workspace; the same over many starts. */
export async function ensureInvitation(world: ControlContext): Promise<string> {
  const { state, addresses } = world
  const kept = state.current.invitation
  const secret = kept !== undefined && (await isGood(world, kept)) ? kept : await invite(world)
  if (secret !== kept) state.update({ invitation: secret })
  return `${addresses.authUrl}/invite/${secret}`
}

async function invite({ context }: ControlContext): Promise<string> {
  const account = await getAccount(context, DEMO_SLUG)
  const options = {
    account,
    role: 'owner',
    actor: { kind: 'operator' },
    usesMax: USES_MAX,
    lifetimeMs: LIFETIME_MS,
  } as const
  return (await createInvitation(context, options)).secret
}

async function isGood({ context }: ControlContext, secret: string): Promise<boolean> {
  try {
    const { invitation } = await findInvitation(context, { secret })
    return invitation.expiresAt.getTime() - context.clock.now().getTime() > LEFT_MS_MIN
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
