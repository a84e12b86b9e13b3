import { randomBytes } from 'node:crypto'
import {
  createSoftwarePasskey,
  type PasskeyAssertion,
  type SoftwarePasskey,
} from '../../../sandbox/src/software-passkey.ts'
import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { addMember } from '../../../server/src/domain/members/add-member.ts'
import { createWorkspace } from '../../../server/src/domain/members/create-workspace.ts'
import type { IssuedSession } from '../../../server/src/domain/sessions/issue-session.ts'
import { openSignIn } from '../../../server/src/domain/sessions/open-sign-in.ts'
import { openSignUp } from '../../../server/src/domain/sessions/open-sign-up.ts'
import type { Role } from '../../../server/src/values/role.ts'
import type { Session } from '../../../server/src/domain/sessions/session.ts'
import { signIn } from '../../../server/src/domain/sessions/sign-in.ts'
import { signUp } from '../../../server/src/domain/sessions/sign-up.ts'
import { addWalletPasskey } from '../../../server/src/domain/wallets/add-wallet-passkey.ts'

export interface Person {
  readonly userId: string
  readonly passkey: SoftwarePasskey
  readonly session: Session
  /** The session's secret, which is the value of the cookie. */
  readonly secret: string
  readonly recoveryCodes: string[]
}

export const DEVICE = 'Test browser'

/** Signs up a person with a software passkey. */
export async function signUpPerson(ctx: Context, name = 'Ada'): Promise<Person> {
  const { ceremony, options } = await openSignUp(ctx, { name, policy: 'open' })
  const passkey = makePasskey(ctx, options.user.id)
  const response = passkey.register(toBytes(options.challenge))
  const { session, secret, recoveryCodes } = await signUp(ctx, { ceremony, response, device: DEVICE })
  return { userId: session.userId, passkey, session, secret, recoveryCodes }
}

/** Signs up a person with a workspace. The workspace's audit log then records the person's actions. */
export async function signUpMember(ctx: Context, name?: string): Promise<Person> {
  const person = await signUpPerson(ctx, name)
  await createWorkspace(ctx, { userId: person.userId, name: 'Analytical Engines' })
  return person
}

/** Signs in a person again, as from another browser. */
export async function signInPerson(ctx: Context, { passkey }: Pick<Person, 'passkey'>): Promise<IssuedSession> {
  const { ceremony, options } = await openSignIn(ctx)
  return await signIn(ctx, { ceremony, response: answer(passkey, options), device: DEVICE })
}

/** Signs up a person and makes them a member of a workspace. */
export async function seedOwner(ctx: Context, workspace: Workspace, role: Role = 'owner'): Promise<Person> {
  const person = await signUpPerson(ctx)
  await addMember(ctx, { workspace, userId: person.userId, role, actor: OPERATOR })
  return person
}

/** Returns the proof of identity that a session has if its person used their passkey just now. */
export function justProved({ clock }: Pick<Context, 'clock'>): { verifiedAt: Date } {
  return { verifiedAt: clock.now() }
}

/** Creates a passkey for this service. It is not registered yet. */
export function makePasskey(ctx: Pick<Context, 'relyingParty'>, userHandle: string): SoftwarePasskey {
  return createSoftwarePasskey({ rpId: ctx.relyingParty.id, origin: ctx.relyingParty.origin, userHandle })
}

/** Makes a wallet passkey, as the signer page would, and adds it to a person's account. */
export async function addWalletOwner(
  ctx: Pick<Context, 'db' | 'clock' | 'signer'>,
  userId: string,
  name = 'Wallet passkey',
): Promise<SoftwarePasskey> {
  const { signer } = ctx
  if (signer === null) throw new Error('the service has no signer page')
  const passkey = createSoftwarePasskey({ rpId: signer.id, origin: signer.origin })
  const { credentialId, publicKeyCose } = passkey
  const { attestationObject, clientDataJSON, transports } = passkey.register(randomBytes(32)).response
  const registered = { credentialId, publicKeyCose, transports }
  const registration = { attestationObject, clientDataJSON }
  await addWalletPasskey(ctx, { userId, registered, registration, name })
  return passkey
}

export function answer(passkey: SoftwarePasskey, options: { readonly challenge: string }): PasskeyAssertion {
  return passkey.assert(toBytes(options.challenge))
}

export function toBytes(base64url: string): Buffer {
  return Buffer.from(base64url, 'base64url')
}
