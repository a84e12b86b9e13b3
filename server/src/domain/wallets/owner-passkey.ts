import { createPublicKey } from 'node:crypto'
import { verifyAuthenticationResponse, type AuthenticationResponseJSON } from '@simplewebauthn/server'
import { cose, decodeClientDataJSON, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { Problem, problem } from '../../values/problem.ts'
import type { Context, RelyingParty } from '../context.ts'
import { listOwners } from './owners-store.ts'
import type { OwnerPasskey, Wallet } from './wallet.ts'

/**
 * Returns the passkey's public key in the form that the enclave expects: its SPKI encoding in base64. Throws 400 unless
 * it is an ES256 key.
 */
export function toSpki(publicKeyCose: Uint8Array): string {
  const key = readCoseKey(publicKeyCose)
  if (key === null)
    throw new Problem(
      'validation_failed',
      "The owner's passkey must have an ES256 (P-256) key. Passkeys with other keys cannot own a wallet.",
    )
  const jwk = { kty: 'EC', crv: 'P-256', x: base64url(key.x), y: base64url(key.y) }
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' }).toString('base64')
}

/**
 * Verifies that an owner of the wallet signed exactly these bytes (D15): credential, challenge, origin, relying party,
 * user presence and verification, and the signature. A wallet passkey must have been used on the signer page. If the
 * wallet still belongs to a sign-in passkey, that passkey must have been used on our own site.
 *
 * Errors: 400 `signature_invalid`; 409 `signing_request_stale` if an owner signed another request, for example one that
 * was prepared earlier; 409 `signer_not_configured`.
 */
export async function checkOwnerSignature(
  ctx: Pick<Context, 'db' | 'relyingParty' | 'signer'>,
  { wallet, challenge, assertion }: { wallet: Wallet; challenge: Uint8Array; assertion: AuthenticationResponseJSON },
): Promise<void> {
  const { owners, site } = await findOwnersAndSite(ctx, wallet)
  const owner = owners.find(({ credentialId }) => credentialId === assertion.id)
  if (owner === undefined) throw problem('signature_invalid')
  if (signsAnotherRequest(assertion, challenge)) throw problem('signing_request_stale')
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: assertion,
      expectedChallenge: base64url(challenge),
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
      credential: { id: owner.credentialId, publicKey: Uint8Array.from(owner.publicKeyCose), counter: 0 },
    })
    if (!verified) throw problem('signature_invalid')
  } catch (error) {
    throw error instanceof Problem ? error : problem('signature_invalid', { cause: error })
  }
}

/** Returns the passkeys that may sign for the wallet, and the site where they are used. */
async function findOwnersAndSite(
  ctx: Pick<Context, 'db' | 'relyingParty' | 'signer'>,
  wallet: Wallet,
): Promise<{ owners: readonly OwnerPasskey[]; site: RelyingParty }> {
  if (wallet.signInOwner !== null) return { owners: [wallet.signInOwner], site: ctx.relyingParty }
  if (ctx.signer === null) throw problem('signer_not_configured')
  return { owners: await ctx.db.runRelaxed(listOwners(wallet)), site: ctx.signer }
}

function signsAnotherRequest({ response }: AuthenticationResponseJSON, challenge: Uint8Array): boolean {
  try {
    const { challenge: signed } = decodeClientDataJSON(response.clientDataJSON)
    return typeof signed === 'string' && signed !== base64url(challenge)
  } catch {
    return false
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
