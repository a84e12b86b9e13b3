import { createPublicKey } from 'node:crypto'
import { verifyAuthenticationResponse, type AuthenticationResponseJSON } from '@simplewebauthn/server'
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { OwnerPasskey } from './wallet.ts'

/** Returns whether a passkey can own a wallet: the enclave only verifies ES256 signatures. */
export function isEs256(publicKeyCose: Uint8Array): boolean {
  return readCoseKey(publicKeyCose) !== null
}

/**
 * Returns the passkey's public key in the form that the enclave expects: base64 of its SPKI. Throws 400 unless it is an
 * ES256 key.
 */
export function toSpki(publicKeyCose: Uint8Array): string {
  const key = readCoseKey(publicKeyCose)
  if (key === null)
    throw new Problem(
      'validation_failed',
      "The owner's passkey must use ES256 (P-256); only such keys can own a wallet.",
    )
  const jwk = { kty: 'EC', crv: 'P-256', x: base64url(key.x), y: base64url(key.y) }
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' }).toString('base64')
}

/**
 * Verifies that the owner signed exactly these bytes (D15): challenge, origin, relying party, user presence and
 * verification, and the signature. Throws 400 `signature_invalid` if anything is wrong.
 */
export async function checkOwnerSignature(
  ctx: Pick<Context, 'relyingParty' | 'logger'>,
  {
    owner,
    challenge,
    assertion,
  }: { owner: OwnerPasskey; challenge: Uint8Array; assertion: AuthenticationResponseJSON },
): Promise<void> {
  if (assertion.id !== owner.credentialId) throw problem('signature_invalid')
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: assertion,
      expectedChallenge: base64url(challenge),
      expectedOrigin: ctx.relyingParty.origin,
      expectedRPID: ctx.relyingParty.id,
      requireUserVerification: true,
      credential: { id: owner.credentialId, publicKey: Uint8Array.from(owner.publicKeyCose), counter: 0 },
    })
    if (!verified) throw problem('signature_invalid')
  } catch (error) {
    throw error instanceof Problem ? error : problem('signature_invalid', { cause: error })
  }
}

function readCoseKey(publicKeyCose: Uint8Array): { x: Uint8Array; y: Uint8Array } | null {
  try {
    const key = decodeCredentialPublicKey(Uint8Array.from(publicKeyCose))
    if (!cose.isCOSEPublicKeyEC2(key) || key.get(cose.COSEKEYS.alg) !== cose.COSEALG.ES256) return null
    const x = key.get(cose.COSEKEYS.x)
    const y = key.get(cose.COSEKEYS.y)
    return x === undefined || y === undefined ? null : { x, y }
  } catch {
    return null
  }
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
