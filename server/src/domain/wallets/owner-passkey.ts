import { createHash, createPublicKey, verify } from 'node:crypto'
import { verifyAuthenticationResponse, type AuthenticationResponseJSON } from '@simplewebauthn/server'
import { cose, decodeClientDataJSON, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import type { OwnerAssertion } from '../../enclave/enclave.ts'
import { Problem, problem } from '../../values/problem.ts'
import type { Context, RelyingParty } from '../context.ts'
import type { OwnerSignature } from '../owner-signatures/owner-signature.ts'
import { checkCounter } from '../passkeys/check-counter.ts'
import { listOwners, type RegisteredPasskey } from './wallet-owners-store.ts'
import { isUnambiguousClientData } from './client-data.ts'
import { advanceWalletCounter } from './wallet-passkeys-store.ts'
import type { Wallet } from './wallet.ts'

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
 * user presence and verification, and the signature. The passkey must have been used on the signer page itself, not within
 * a page of another origin that embeds it. Returns the signature with everything that others need to verify it again; the
 * caller must store it with `keepSignature` (D78).
 *
 * `requestedAt` is when the owner was asked to sign. If the passkey's signature counter went back since an earlier
 * request, somebody may have copied the passkey, and the signature is rejected.
 *
 * Errors: 400 `signature_invalid`; 409 `signing_request_stale` if an owner signed another request, for example one that
 * was prepared earlier; 409 `signer_not_configured`, `wallet_passkey_counter_went_back`.
 */
export async function checkOwnerSignature(
  ctx: Pick<Context, 'db' | 'clock' | 'logger' | 'signer'>,
  {
    wallet,
    challenge,
    requestedAt,
    assertion,
  }: { wallet: Wallet; challenge: Uint8Array; requestedAt: Date; assertion: AuthenticationResponseJSON },
): Promise<OwnerSignature> {
  const owners = await ctx.db.read(listOwners(wallet))
  const owner = owners.find(({ credentialId }) => credentialId === assertion.id)
  return await checkPasskeySignature(ctx, { passkey: owner ?? null, challenge, requestedAt, assertion })
}

/**
 * Does what `checkOwnerSignature` does for a passkey of which the caller knows that it owns the wallets concerned. If
 * `passkey` is null, none does: 400 `signature_invalid`.
 */
export async function checkPasskeySignature(
  ctx: Pick<Context, 'db' | 'clock' | 'logger' | 'signer'>,
  {
    passkey: owner,
    challenge,
    requestedAt,
    assertion,
  }: {
    passkey: RegisteredPasskey | null
    challenge: Uint8Array
    requestedAt: Date
    assertion: AuthenticationResponseJSON
  },
): Promise<OwnerSignature> {
  if (ctx.signer === null) throw problem('signer_not_configured')
  if (owner === null) throw problem('signature_invalid')
  if (signsAnotherRequest(assertion, challenge)) throw problem('signing_request_stale')
  const publicKey = Buffer.from(toSpki(owner.publicKeyCose), 'base64')
  const counter = await verifySignature({ owner, publicKey, site: ctx.signer, challenge, assertion })
  const receivedAt = ctx.clock.now()
  const use = { counter, now: receivedAt, requestedAt }
  const outcome = await ctx.db.write(advanceWalletCounter(owner.credentialId, use))
  await checkCounter(ctx, { outcome, passkey: owner, counter, code: 'wallet_passkey_counter_went_back' })
  const { credentialId, userId, registration, createdAt: registeredAt } = owner
  const { authenticatorData, clientDataJSON, signature } = assertion.response
  return {
    ...{ credentialId, userId, publicKey, registration, registeredAt, site: ctx.signer, challenge, receivedAt },
    assertion: { authenticatorData, clientDataJSON, signature },
  }
}

/** Verifies an owner's signature, and returns the signature counter that the authenticator reported. */
async function verifySignature({
  owner,
  publicKey,
  site,
  challenge,
  assertion,
}: {
  owner: RegisteredPasskey
  publicKey: Buffer
  site: RelyingParty
  challenge: Uint8Array
  assertion: AuthenticationResponseJSON
}): Promise<number> {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: assertion,
      expectedChallenge: base64url(challenge),
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
      // With 0, the library does not check the counter. It would check it before the signature.
      credential: { id: owner.credentialId, publicKey: Uint8Array.from(owner.publicKeyCose), counter: 0 },
    })
    // The library also accepts encodings of a signature that are not DER (WebAuthn, section 6.5.5), and whatever
    // `JSON.parse` does. With such a signature, an owner could later dispute what they signed, because others reject it or
    // read something else in it.
    const isClear = isCanonicalBase64url(assertion) && isUnambiguousClientData(toBytes(assertion).clientDataJSON)
    if (!verified || !isClear || !isDerSignature(assertion, publicKey)) throw problem('signature_invalid')
    return authenticationInfo.newCounter
  } catch (error) {
    throw error instanceof Problem ? error : problem('signature_invalid', { cause: error })
  }
}

/** Returns whether the parts have no padding, and no bits after their last byte. Node.js ignores both. */
function isCanonicalBase64url({ response }: Pick<AuthenticationResponseJSON, 'response'>): boolean {
  const bytes = toBytes({ response })
  const names = ['authenticatorData', 'clientDataJSON', 'signature'] as const
  return names.every((name) => base64url(bytes[name]) === response[name])
}

/** Verifies a signature as anybody can who has only the signature and the public key, in SPKI DER. */
function isDerSignature(assertion: AuthenticationResponseJSON, publicKey: Buffer): boolean {
  const { authenticatorData, clientDataJSON, signature } = toBytes(assertion)
  const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientDataJSON).digest()])
  return verify('sha256', signed, { key: publicKey, format: 'der', type: 'spki' }, signature)
}

function toBytes({
  response,
}: Pick<AuthenticationResponseJSON, 'response'>): Readonly<Record<keyof OwnerAssertion, Buffer>> {
  return {
    authenticatorData: Buffer.from(response.authenticatorData, 'base64url'),
    clientDataJSON: Buffer.from(response.clientDataJSON, 'base64url'),
    signature: Buffer.from(response.signature, 'base64url'),
  }
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
