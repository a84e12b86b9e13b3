import { randomBytes } from 'node:crypto'
import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import type { Context, RelyingParty } from '../../../server/src/domain/context.ts'
import { addMember } from '../../../server/src/domain/members/add-member.ts'
import { createWorkspace } from '../../../server/src/domain/members/create-workspace.ts'
import { findSession } from '../../../server/src/domain/sessions/find-session.ts'
import { openSignIn } from '../../../server/src/domain/sessions/open-sign-in.ts'
import { openSignUp } from '../../../server/src/domain/sessions/open-sign-up.ts'
import { isProofRecent } from '../../../server/src/domain/require-recent-proof.ts'
import { signIn } from '../../../server/src/domain/sessions/sign-in.ts'
import { signUp } from '../../../server/src/domain/sessions/sign-up.ts'
import type { Plan } from '../../../server/src/domain/plans/plan.ts'
import { addWalletPasskey } from '../../../server/src/domain/wallets/add-wallet-passkey.ts'
import { Problem } from '../../../server/src/values/problem.ts'
import { createSoftwarePasskey, restoreSoftwarePasskey, type SoftwarePasskey } from '../software-passkey.ts'
import { serialQueue } from '../chain/serial-queue.ts'
import type { ControlContext } from './control-context.ts'

/** The user name of the owners that the control API creates for its workspaces. */
const OWNER_NAME = 'Sandbox owner'
/** The device name in the sessions of these owners. */
const DEVICE = 'Sandbox'
const CHALLENGE_BYTES = 32

/** Creates a workspace with an owner. The sandbox has the owner's passkey. */
export async function createOwnedWorkspace(
  control: ControlContext,
  { name, plan }: { name: string; plan: Plan },
): Promise<Workspace> {
  const owner = await signUpOwner(control.context)
  const { workspace } = await createWorkspace(control.context, { userId: owner.userId, name, plan })
  await keepOwner(control, workspace, owner)
  return workspace
}

/** Adds an owner whose passkey the sandbox has, unless the workspace already has such an owner. */
export async function ensureOwner(control: ControlContext, workspace: Workspace): Promise<void> {
  if (control.state.current.owners[workspace.slug] !== undefined) return
  const owner = await signUpOwner(control.context)
  await addMember(control.context, { workspace, userId: owner.userId, role: 'owner', actor: { kind: 'operator' } })
  await keepOwner(control, workspace, owner)
}

/**
 * Returns the passkey with which a workspace's owner signs in. Throws 409 if the owner signed up in the dashboard with
 * a passkey of their own.
 */
function ownerOf({ state, context }: Pick<ControlContext, 'state' | 'context'>, slug: string): SoftwarePasskey {
  const { id: rpId, origin } = context.relyingParty
  const stored = state.current.owners[slug]
  if (stored === undefined) {
    const message = `The sandbox does not have the passkey of the owner of ${slug}. Use the dashboard, or a workspace created with POST /workspaces.`
    throw new Problem('conflict', message)
  }
  // The ports may have changed since the passkey was created, so the current origin is used.
  return restoreSoftwarePasskey({ ...stored, rpId, origin })
}

/**
 * Returns the wallet passkey of a workspace's owner. Throws 409 as `ownerOf` does. The signature counter is stored at
 * each signature. Otherwise the counter would go back, and the server would report that the passkey was copied.
 */
export function walletOwnerOf(control: ControlContext, slug: string): SoftwarePasskey {
  const { state, context } = control
  ownerOf(control, slug)
  const stored = state.current.walletOwners[slug]
  if (stored === undefined) throw new Error(`the owner of ${slug} has no wallet passkey`)
  const { id: rpId, origin } = getSigner(context)
  return {
    ...restoreSoftwarePasskey({ ...stored, rpId, origin }),
    assert(challenge) {
      const { counter } = state.current.walletOwners[slug] ?? stored
      const passkey = restoreSoftwarePasskey({ ...stored, counter, rpId, origin })
      const assertion = passkey.assert(challenge)
      state.update({ walletOwners: { ...state.current.walletOwners, [slug]: passkey.export() } })
      return assertion
    },
  }
}

const sessions = new Map<string, string>()
/**
 * Runs one sign-in at a time. Otherwise, two concurrent sign-ins could use the same signature counter of a passkey, and
 * the server would reject one of them.
 */
const enqueue = serialQueue()

/**
 * Signs in the owner with their passkey, and returns the session's secret, which is the cookie's value. Reuses an
 * earlier session while its proof by passkey is recent enough.
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
    // The counter is stored before the passkey is used. If the stored counter fell behind the server's, the server
    // would reject the passkey from then on.
    state.update({ owners: { ...state.current.owners, [slug]: passkey.export() } })
    const { secret } = await signIn(context, { ceremony, response, device: DEVICE })
    sessions.set(slug, secret)
    return secret
  })
}

interface Owner {
  readonly userId: string
  /** The passkey with which the owner signs in. */
  readonly passkey: SoftwarePasskey
}

async function signUpOwner(context: Context): Promise<Owner> {
  const { id: rpId, origin } = context.relyingParty
  const { ceremony, options } = await openSignUp(context, { name: OWNER_NAME, policy: 'open' })
  const passkey = createSoftwarePasskey({ rpId, origin, userHandle: options.user.id })
  const response = passkey.register(Buffer.from(options.challenge, 'base64url'))
  const { session } = await signUp(context, { ceremony, response, device: DEVICE })
  return { userId: session.userId, passkey }
}

function getSigner({ signer }: Context): RelyingParty {
  if (signer === null) throw new Error('the sandbox has no signer page')
  return signer
}

/** Gives the owner a wallet passkey, and stores both passkeys. */
async function keepOwner(
  { context, state }: ControlContext,
  { slug }: Workspace,
  { userId, passkey }: Owner,
): Promise<void> {
  const { id: rpId, origin } = getSigner(context)
  const walletPasskey = createSoftwarePasskey({ rpId, origin })
  const { credentialId, publicKeyCose } = walletPasskey
  const registered = { credentialId, publicKeyCose, transports: ['internal'] }
  const { attestationObject, clientDataJSON } = walletPasskey.register(randomBytes(CHALLENGE_BYTES)).response
  const registration = { attestationObject, clientDataJSON }
  await addWalletPasskey(context, { userId, registered, registration, name: 'Sandbox wallet passkey' })
  const { owners, walletOwners } = state.current
  state.update({
    owners: { ...owners, [slug]: passkey.export() },
    walletOwners: { ...walletOwners, [slug]: walletPasskey.export() },
  })
}
