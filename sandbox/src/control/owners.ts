import type { Account } from '../../../server/src/domain/accounts/account.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { addMember } from '../../../server/src/domain/members/add-member.ts'
import { createWorkspace } from '../../../server/src/domain/members/create-workspace.ts'
import { findSession } from '../../../server/src/domain/sessions/find-session.ts'
import { openSignIn } from '../../../server/src/domain/sessions/open-sign-in.ts'
import { openSignUp } from '../../../server/src/domain/sessions/open-sign-up.ts'
import { isProofRecent } from '../../../server/src/domain/require-recent-proof.ts'
import { signIn } from '../../../server/src/domain/sessions/sign-in.ts'
import { signUp } from '../../../server/src/domain/sessions/sign-up.ts'
import type { Plan } from '../../../server/src/domain/plans/plan.ts'
import { Problem } from '../../../server/src/values/problem.ts'
import { createSoftwarePasskey, restoreSoftwarePasskey, type SoftwarePasskey } from '../software-passkey.ts'
import { serialQueue } from '../chain/serial-queue.ts'
import type { ControlContext } from './control-context.ts'

/** The name of the users who own the workspaces created by the control API. */
const OWNER_NAME = 'Sandbox owner'
/** How the browsers of these users describe themselves. */
const DEVICE = 'Sandbox'

/** Creates a workspace with an owner whose passkey the sandbox has. */
export async function createOwnedWorkspace(
  control: ControlContext,
  { name, plan }: { name: string; plan: Plan },
): Promise<Account> {
  const { userId, passkey } = await signUpOwner(control.context)
  const { account } = await createWorkspace(control.context, { userId, name, plan })
  keepOwner(control, account, passkey)
  return account
}

/** Adds an owner whose passkey the sandbox has, unless the workspace already has one. */
export async function ensureOwner(control: ControlContext, account: Account): Promise<void> {
  if (control.state.current.owners[account.slug] !== undefined) return
  const { userId, passkey } = await signUpOwner(control.context)
  await addMember(control.context, { account, userId, role: 'owner', actor: { kind: 'operator' } })
  keepOwner(control, account, passkey)
}

/**
 * Returns the passkey of a workspace's owner. Throws 409 if the owner signed up in the dashboard with a passkey of
 * their own.
 */
export function ownerOf({ state, context }: Pick<ControlContext, 'state' | 'context'>, slug: string): SoftwarePasskey {
  const { id: rpId, origin } = context.relyingParty
  const stored = state.current.owners[slug]
  if (stored === undefined) {
    const message = `The sandbox does not have the passkey of the owner of ${slug}. Use the dashboard, or a workspace created with POST /workspaces.`
    throw new Problem('conflict', message)
  }
  // The ports may have changed since the passkey was created.
  return restoreSoftwarePasskey({ ...stored, rpId, origin })
}

const sessions = new Map<string, string>()
/** Signatures must be made one after the other, because a passkey counts them. */
const enqueue = serialQueue()

/**
 * Signs in the owner with their passkey, and returns the session's secret, which is the cookie's value. An earlier
 * session is used again while its proof is recent.
 */
export function signInOwner(control: ControlContext, slug: string): Promise<string> {
  return enqueue(async () => {
    const { context, state } = control
    const kept = sessions.get(slug)
    const session = kept === undefined ? null : await findSession(context, { secret: kept })
    if (kept !== undefined && session !== null && isProofRecent(session, context.clock.now())) return kept
    const passkey = ownerOf(control, slug)
    const { ceremony, options } = await openSignIn(context)
    const response = passkey.assert(Buffer.from(options.challenge, 'base64url'))
    // Stored before the passkey is used: if the counter fell behind the server's, the passkey would be rejected for
    // ever.
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
