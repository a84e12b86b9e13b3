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
  /**
   * The authenticator's signature counter, which was not checked. The caller must check and store it with
   * `advanceCounter`, in the transaction that uses the assertion.
   */
  readonly counter: number
}

/**
 * Matches the base64url of at most 1,023 bytes. A text that does not match cannot be a credential id, so no query is
 * made for it.
 */
const CREDENTIAL_ID_PATTERN = /^[\w-]{1,1364}$/

/**
 * Finds the passkey that signed a response, and verifies the response (WebAuthn, section 7.2): challenge, origin,
 * relying party, user presence and verification, and signature. Also checks that the user handle in the
 * response, which is not signed, belongs to the passkey's user. If `mayOmitUser` is true, the response may have no user
 * handle.
 *
 * Errors: 401 `passkey_unknown`, `passkey_invalid`.
 */
export async function checkAssertion(
  ctx: Pick<Context, 'db' | 'relyingParty'>,
  {
    challenge,
    response,
    mayOmitUser = false,
  }: { challenge: string; response: AuthenticationResponseJSON; mayOmitUser?: boolean },
): Promise<Assertion> {
  const isWellFormed = CREDENTIAL_ID_PATTERN.test(response.id)
  const found = isWellFormed ? await ctx.db.read(findPasskey(response.id)) : null
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
        // With 0, the library does not check the counter. It would check it before the signature, so anybody could
        // make the service report that a passkey was copied.
        counter: 0,
      },
    })
    const { clientDataJSON, userHandle } = response.response
    // No other site may embed our pages, so a cross-origin response is not genuine.
    if (!verified || decodeClientDataJSON(clientDataJSON).crossOrigin === true) throw problem('passkey_invalid')
    // A discoverable credential returns its user handle, unless the request named the credential's id (WebAuthn,
    // section 7.2, step 6).
    const handle = userHandle ?? null
    const mustMatch = handle !== null || !mayOmitUser
    if (mustMatch && handle !== user.userHandle.toString('base64url')) throw problem('passkey_invalid')
    return { passkey, user, counter: authenticationInfo.newCounter }
  } catch (error) {
    throw error instanceof Problem ? error : problem('passkey_invalid', { cause: error })
  }
}
