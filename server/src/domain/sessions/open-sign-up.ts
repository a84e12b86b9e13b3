import { randomBytes } from 'node:crypto'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import type { SignUpPolicy } from '../../values/sign-up-policy.ts'
import type { Context } from '../context.ts'
import { getInvitation } from '../members/queries.ts'
import { makeRegistrationOptions } from '../passkeys/make-registration-options.ts'
import { openCeremony } from '../passkeys/open-ceremony.ts'
import { USER_HANDLE_BYTES } from '../passkeys/user.ts'

export interface SignUpRequest {
  readonly name: string
  /** Required, because a caller that forgot it would let in users whom the operator excludes. */
  readonly policy: SignUpPolicy
  /** The secret of an invitation, if the user has one. */
  readonly invitation?: string | undefined
}

/**
 * Starts a sign-up (D46) and returns the options with which the browser registers a passkey. A sign-up can only be
 * completed with the ceremony created here, so enforcing the policy here is enough.
 *
 * Errors: 400 for a name that is not allowed. If the policy is `invited`: 403 `sign_up_invited_only` without an
 * invitation, and 404 `invitation_not_found` for one that cannot be accepted.
 */
export async function openSignUp(
  ctx: Pick<Context, 'db' | 'clock' | 'relyingParty'>,
  { name: text, policy, invitation }: SignUpRequest,
): Promise<{ ceremony: string; options: PublicKeyCredentialCreationOptionsJSON }> {
  if (policy === 'invited') {
    if (invitation === undefined) throw problem('sign_up_invited_only')
    await getInvitation(ctx, { secret: invitation })
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
