import { createPrivateKey, generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto'

export type SignerKeyPair = {
  /** Base64 of the SPKI DER, as the enclave expects it. */
  readonly publicKey: string
  /** Base64 of the PKCS8 DER. Secret. */
  readonly privateKey: string
}

/** Generates a P-256 authorization key for an agent (D15a). */
export function generateSignerKey(): SignerKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  return { publicKey: publicKey.toString('base64'), privateKey: privateKey.toString('base64') }
}

/** @throws TypeError if `privateKey` is not a P-256 key in base64 PKCS8 DER. The message does not repeat the key. */
export function parseSignerKey(privateKey: string): KeyObject {
  let key: KeyObject | null = null
  try {
    key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  } catch {
    // The check below throws, as it does for a key of another kind.
  }
  if (key?.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new TypeError('a signer key is not a P-256 key')
  return key
}

/** How many parsed keys are cached. With more agents than this, some payments must parse their key again. */
export const SIGNER_KEYS_KEPT_MAX = 1_000

/**
 * Returns `parseSignerKey` with a cache, because parsing takes four times as long as signing. The cache uses a digest
 * of the key's text, so that the text does not stay in memory. The least recently used key is dropped first.
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

/** Signs `payload` as the enclave expects it: base64 of a DER-encoded ECDSA signature over its SHA-256. */
export function signPayload(key: KeyObject, payload: Uint8Array): string {
  return sign('sha256', payload, { key, dsaEncoding: 'der' }).toString('base64')
}
