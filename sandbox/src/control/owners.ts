import type { Account } from '../../../server/src/domain/accounts/account.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { addMember } from '../../../server/src/domain/members/add-member.ts'
import { createWorkspace } from '../../../server/src/domain/members/create-workspace.ts'
import { findSession } from '../../../server/src/domain/sessions/find-session.ts'
import { openSignIn } from '../../../server/src/domain/sessions/open-sign-in.ts'
import { openSignUp } from '../../../server/src/domain/sessions/open-sign-up.ts'
import { isVerified } from '../../../server/src/domain/require-recent-proof.ts'
import { signIn } from '../../../server/src/domain/sessions/sign-in.ts'
import { signUp } from '../../../server/src/domain/sessions/sign-up.ts'
import type { Plan } from '../../../server/src/domain/plans/plan.ts'
import { Problem } from '../../../server/src/values/problem.ts'
import { createSoftwarePasskey, restoreSoftwarePasskey, type SoftwarePasskey } from '../passkey/software-passkey.ts'
import { serialQueue } from '../chain/serial-queue.ts'
import type { ControlContext } from './control-context.ts'

/** Who owns the workspaces that the control API makes. */
const OWNER_NAME = 'Sandbox owner'
/** What the sandbox's people call their browser. */
const DEVICE = 'Sandbox'

/** Makes a workspace with an owner, whose passkey lives in the sandbox. */
export async function createOwnedWorkspace(
  world: ControlContext,
  { name, plan }: { name: string; plan: Plan },
): Promise<Account> {
  const { userId, passkey } = await signUpOwner(world.context)
  const { account } = await createWorkspace(world.context, { userId, name, plan })
  keepOwner(world, account, passkey)
  return account
}

/** Gives a workspace an owner whose passkey lives in the sandbox, where it has none yet. */
export async function ensureOwner(world: ControlContext, account: Account): Promise<void> {
  if (world.state.current.owners[account.slug] !== undefined) return
  const { userId, passkey } = await signUpOwner(world.context)
  await addMember(world.context, { account, userId, role: 'owner', actor: { kind: 'operator' } })
  keepOwner(world, account, passkey)
}

/** The passkey of a workspace's owner. 409 for a workspace whose owner signed up in the dashboard, with a passkey of theirs. */
export function ownerOf({ state, context }: Pick<ControlContext, 'state' | 'context'>, slug: string): SoftwarePasskey {
  const { id: rpId, origin } = context.relyingParty
  const stored = state.current.owners[slug]
  if (stored === undefined) {
    const message = `The sandbox has no passkey of the owner of ${slug}. Do this in the dashboard, or in a workspace of POST /workspaces.`
    throw new Problem('conflict', message)
  }
  // The ports may be others than when it was made.
  return restoreSoftwarePasskey({ ...stored, rpId, origin })
}

const sessions = new Map<string, string>()
/** A passkey counts its signatures, so it makes one after the other. */
const enqueue = serialQueue()

/**
 * A session of the owner, by passkey; the one from before while it lasts and the owner's presence counts as proved.
 * Answers its secret, the cookie's value.
 */
export function signInOwner(world: ControlContext, slug: string): Promise<string> {
  return enqueue(async () => {
    const { context, state } = world
    const kept = sessions.get(slug)
    const session = kept === undefined ? null : await findSession(context, { secret: kept })
    if (kept !== undefined && session !== null && isVerified(session, context.clock.now())) return kept
    const passkey = ownerOf(world, slug)
    const { ceremony, options } = await openSignIn(context)
    const response = passkey.assert(Buffer.from(options.challenge, 'base64url'))
    // Kept first: a counter that is behind the service's would be refused for ever.
    state.update({ owners: { ...state.current.owners, [slug]: passkey.export() } })
    const { secret } = await signIn(context, { ceremony, response, device: DEVICE })
    sessions.set(slug, secret)
    return secret
  })
}

async function signUpOwner(context: Context): Promise<{ userId: string; passkey: SoftwarePasskey }> {
  const { id: rpId, origin } = context.relyingParty
  const { ceremony, options } = await openSignUp(context, { name: OWNER_NAME, policy: 'open' })
  const passkey = createSoftwarePasskey({ rpId, origin, userHandle: options.user.id })
  const response = passkey.register(Buffer.from(options.challenge, 'base64url'))
  const { session } = await signUp(context, { ceremony, response, device: DEVICE })
  return { userId: session.userId, passkey }
}

function keepOwner({ state }: ControlContext, { slug }: Account, passkey: SoftwarePasskey): void {
  state.update({ owners: { ...state.current.owners, [slug]: passkey.export() } })
}
