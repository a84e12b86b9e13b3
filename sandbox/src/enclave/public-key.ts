import { createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { invalidData } from './errors.ts'
import { PUBLIC_KEYS_CACHED_MAX } from './limits.ts'

const keys = new Map<string, KeyObject>()

/**
 * Normalizes a P-256 public key (base64 SPKI DER or PEM) to base64 SPKI DER without white space. Throws 400 for
 * anything else.
 */
export function parsePublicKey(text: string): string {
  const base64 = text.replace(/-----(BEGIN|END) PUBLIC KEY-----/g, '').replace(/\s/g, '')
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' })
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('another curve')
    return key.export({ format: 'der', type: 'spki' }).toString('base64')
  } catch {
    throw invalidData('The public key must be a P-256 key in base64 SPKI DER or PEM form')
  }
}

/** Returns a normalized public key as PEM. */
export function formatPem(spki: string): string {
  return loadPublicKey(spki).export({ format: 'pem', type: 'spki' }).toString()
}

/**
 * Parses a normalized public key. The newest `PUBLIC_KEYS_CACHED_MAX` keys are cached, because parsing a key takes as
 * long as verifying a signature with it.
 */
export function loadPublicKey(spki: string): KeyObject {
  const known = keys.get(spki)
  if (known !== undefined) return known
  const key = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' })
  const oldest = keys.size >= PUBLIC_KEYS_CACHED_MAX ? keys.keys().next().value : undefined
  if (oldest !== undefined) keys.delete(oldest)
  keys.set(spki, key)
  return key
}
