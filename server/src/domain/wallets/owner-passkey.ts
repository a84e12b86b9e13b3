import { createPublicKey } from 'node:crypto'
import { verifyAuthenticationResponse, type AuthenticationResponseJSON } from '@simplewebauthn/server'
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { OwnerPasskey } from './wallet.ts'

/** Whether a passkey can own a wallet: the enclave verifies no other signatures. */
export function isEs256(publicKeyCose: Uint8Array): boolean {
  return readCoseKey(publicKeyCose) !== null
}

/** The passkey's public key in the form that the enclave takes: base64 of its SPKI. Only ES256 keys have one. */
export function toSpki(publicKeyCose: Uint8Array): string {
  const key = readCoseKey(publicKeyCose)
  if (key === null) throw new Problem('validation_failed', "The owner's passkey must be an ES256 (P-256) key.")
  const jwk = { kty: 'EC', crv: 'P-256', x: base64url(key.x), y: base64url(key.y) }
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' }).toString('base64')
}

/**
 * Checks that the owner signed these very bytes (D15): challenge, origin, relying party, user presence and
 * verification, and the signature. Anything else is 400 `signature_invalid`.
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
