import { randomBytes } from 'node:crypto'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { findInvitation } from '../members/find-invitation.ts'
import { makeRegistrationOptions } from '../passkeys/make-registration-options.ts'
import { openCeremony } from '../passkeys/open-ceremony.ts'
import { USER_HANDLE_BYTES } from '../passkeys/user.ts'

/** Who may sign up: anybody, or people with an invitation only. */
export type SignUpPolicy = 'open' | 'invited'

export interface Applicant {
  readonly name: string
  /** Every caller says it, so that no door lets in people whom the operator keeps out. */
  readonly policy: SignUpPolicy
  /** The secret of an invitation. */
  readonly invitation?: string | undefined
}

/**
 * Begins a sign-up (D46): what the browser asks a new passkey for. A sign-up ends only by a ceremony from here, so the
 * policy is enforced here. Errors: 400 for a bad name; where the policy is `invited`, 403 `sign_up_invited_only` without
 * an invitation, and 404 `invitation_not_found` for one by which nobody can join.
 */
export async function openSignUp(
  ctx: Pick<Context, 'db' | 'clock' | 'relyingParty'>,
  { name: text, policy, invitation }: Applicant,
): Promise<{ ceremony: string; options: PublicKeyCredentialCreationOptionsJSON }> {
  if (policy === 'invited') {
    if (invitation === undefined) throw problem('sign_up_invited_only')
    await findInvitation(ctx, { secret: invitation })
  }
  const name = checkName(text)
  const userHandle = randomBytes(USER_HANDLE_BYTES)
  const options = await makeRegistrationOptions(ctx, { name, userHandle, passkeys: [] })
  const ceremony = await openCeremony(ctx, {
    kind: 'sign_up',
    challenge: options.challenge,
    userId: null,
    applicant: { name, userHandle: userHandle.toString('base64url') },
  })
  return { ceremony, options }
}
