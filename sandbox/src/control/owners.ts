import type { Account } from '../../../server/src/domain/accounts/account.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { addMember } from '../../../server/src/domain/people/add-member.ts'
import { createWorkspace } from '../../../server/src/domain/people/create-workspace.ts'
import { findSession } from '../../../server/src/domain/people/find-session.ts'
import { openSignIn } from '../../../server/src/domain/people/open-sign-in.ts'
import { openSignUp } from '../../../server/src/domain/people/open-sign-up.ts'
import { signIn } from '../../../server/src/domain/people/sign-in.ts'
import { signUp } from '../../../server/src/domain/people/sign-up.ts'
import type { Plan } from '../../../server/src/domain/plans/plan.ts'
import { createSoftwarePasskey, restoreSoftwarePasskey, type SoftwarePasskey } from '../passkey/software-passkey.ts'
import type { World } from './world.ts'

/** What the sandbox's people call their browser. */
const DEVICE = 'Sandbox'

/** Makes a workspace with an owner, whose passkey lives in the sandbox. */
export async function createOwnedWorkspace(
  world: World,
  { name, plan }: { name: string; plan: Plan },
): Promise<Account> {
  const { userId, passkey } = await signUpOwner(world.context, `Owner of ${name}`)
  const { account } = await createWorkspace(world.context, { userId, name, plan })
  keepOwner(world, account, passkey)
  return account
}

/** Gives a workspace an owner whose passkey lives in the sandbox, where it has none yet. */
export async function ensureOwner(world: World, account: Account): Promise<void> {
  if (world.state.current.owners[account.slug] !== undefined) return
  const { userId, passkey } = await signUpOwner(world.context, `Owner of ${account.name}`)
  await addMember(world.context, { account, userId, role: 'owner', actor: { kind: 'operator' } })
  keepOwner(world, account, passkey)
}

/** The passkey of a workspace's owner. */
export function ownerOf({ state, context }: Pick<World, 'state' | 'context'>, slug: string): SoftwarePasskey {
  const { id: rpId, origin } = context.relyingParty
  const stored = state.current.owners[slug]
  if (stored === undefined) throw new Error(`the workspace ${slug} has no owner`)
  // The ports may be others than when it was made.
  return restoreSoftwarePasskey({ ...stored, rpId, origin })
}

const sessions = new Map<string, string>()

/** A session of the owner, by passkey; the one from before while it lasts. Answers its secret, the cookie's value. */
export async function signInOwner(world: World, slug: string): Promise<string> {
  const kept = sessions.get(slug)
  if (kept !== undefined && (await findSession(world.context, { secret: kept })) !== null) return kept
  const passkey = ownerOf(world, slug)
  const { ceremony, options } = await openSignIn(world.context)
  const response = passkey.assert(Buffer.from(options.challenge, 'base64url'))
  const { secret } = await signIn(world.context, { ceremony, response, device: DEVICE })
  world.state.update({ owners: { ...world.state.current.owners, [slug]: passkey.export() } })
  sessions.set(slug, secret)
  return secret
}

async function signUpOwner(context: Context, name: string): Promise<{ userId: string; passkey: SoftwarePasskey }> {
  const { id: rpId, origin } = context.relyingParty
  const { ceremony, options } = await openSignUp(context, { name: name.slice(0, USER_NAME_CHARS_MAX) })
  const passkey = createSoftwarePasskey({ rpId, origin, userHandle: options.user.id })
  const response = passkey.register(Buffer.from(options.challenge, 'base64url'))
  const { session } = await signUp(context, { ceremony, response, device: DEVICE })
  return { userId: session.userId, passkey }
}

const USER_NAME_CHARS_MAX = 100

function keepOwner({ state }: World, { slug }: Account, passkey: SoftwarePasskey): void {
  state.update({ owners: { ...state.current.owners, [slug]: passkey.export() } })
}
