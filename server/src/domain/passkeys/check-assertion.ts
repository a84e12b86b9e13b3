import { verifyAuthenticationResponse, type AuthenticationResponseJSON } from '@simplewebauthn/server'
import { decodeClientDataJSON } from '@simplewebauthn/server/helpers'
import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { findPasskey } from './passkeys-store.ts'
import type { Passkey } from './passkey.ts'
import type { User } from './user.ts'

export interface Assertion {
  readonly passkey: Passkey
  readonly user: User
  /** What the authenticator counts now; it is to be kept in the transaction that makes use of the assertion. */
  readonly counter: number
}

/** base64url of at most 1023 bytes; what can't be an id is not looked up. */
const CREDENTIAL_ID_PATTERN = /^[\w-]{1,1364}$/

/**
 * Finds the passkey that answered, and checks its answer to the challenge (WebAuthn, section 7.2): challenge, origin,
 * relying party, presence and verification of the person, counter, signature, and whose passkey it says it is, which
 * nothing signs. Errors: 401 `passkey_unknown`, `passkey_invalid`.
 */
export async function checkAssertion(
  ctx: Pick<Context, 'db' | 'relyingParty'>,
  {
    challenge,
    response,
    mayOmitUser = false,
  }: { challenge: string; response: AuthenticationResponseJSON; mayOmitUser?: boolean },
): Promise<Assertion> {
  const mayBe = CREDENTIAL_ID_PATTERN.test(response.id)
  const found = mayBe ? await ctx.db.runRelaxed(findPasskey(response.id)) : null
  if (found === null) throw problem('passkey_unknown')
  const { passkey, user } = found
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: ctx.relyingParty.origin,
      expectedRPID: ctx.relyingParty.id,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: Uint8Array.from(passkey.publicKeyCose),
        counter: passkey.counter,
      },
    })
    const { clientDataJSON, userHandle } = response.response
    // Our pages are framed by nobody.
    if (!verified || decodeClientDataJSON(clientDataJSON).crossOrigin === true) throw problem('passkey_invalid')
    // A discoverable credential tells its person, unless it was asked for by its id (WebAuthn, section 7.2, step 6).
    const told = userHandle ?? null
    const isTold = told !== null || !mayOmitUser
    if (isTold && told !== user.userHandle.toString('base64url')) throw problem('passkey_invalid')
    return { passkey, user, counter: authenticationInfo.newCounter }
  } catch (error) {
    throw error instanceof Problem ? error : problem('passkey_invalid', { cause: error })
  }
}
