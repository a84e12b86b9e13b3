import { createPrivateKey, generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto'

export type SignerKeyPair = {
  /** Base64 of the SPKI DER, as the enclave takes it. */
  readonly publicKey: string
  /** Base64 of the PKCS8 DER. Secret. */
  readonly privateKey: string
}

/** A new P-256 authorization key for an agent (D15a). */
export function generateSignerKey(): SignerKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  return { publicKey: publicKey.toString('base64'), privateKey: privateKey.toString('base64') }
}

/** @throws TypeError, which does not repeat the key, when it is not a P-256 key in base64 PKCS8 DER. */
export function parseSignerKey(privateKey: string): KeyObject {
  let key: KeyObject | null = null
  try {
    key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  } catch {
    // The same answer as for a key of another kind.
  }
  if (key?.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new TypeError('a signer key is not a P-256 key')
  return key
}

/** Agents that pay at the same time; each more costs its next payment a parse. */
export const SIGNER_KEYS_KEPT_MAX = 1_000

/**
 * `parseSignerKey` with a memory, since parsing costs four times as much as signing. It is known by a digest, so that the
 * key's text is not kept beside the key. The one used longest ago goes first.
 */
export function createSignerKeyParser(): (privateKey: string) => KeyObject {
  const kept = new Map<string, KeyObject>()
  return (privateKey) => {
    const digest = hash('sha256', privateKey)
    const key = kept.get(digest) ?? parseSignerKey(privateKey)
    kept.delete(digest)
    kept.set(digest, key)
    const [oldest] = kept.keys()
    if (kept.size > SIGNER_KEYS_KEPT_MAX && oldest !== undefined) kept.delete(oldest)
    return key
  }
}

/** Base64 of the DER of an ECDSA signature over the SHA-256 of `payload`: what the enclave takes as authorization. */
export function signPayload(key: KeyObject, payload: Uint8Array): string {
  return sign('sha256', payload, { key, dsaEncoding: 'der' }).toString('base64')
}
