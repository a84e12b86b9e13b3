import { fingerprintOf, type SealingKey } from '../../lib/sealing.ts'

/** A key that encrypts stored secrets, or did. */
export interface EncryptionKey {
  readonly fingerprint: string
  /** The key's name in `ENCRYPTION_KEYS`. Null for the key of `ENCRYPTION_KEY`. */
  readonly id: string | null
  readonly firstUsedAt: Date
  /** Since when no stored secret needs the key. Null while one may need it. */
  readonly unusedSince: Date | null
}

/** Returns the keys that stored secrets may need and that the settings do not contain. */
export function findMissingKeys(
  stored: readonly EncryptionKey[],
  configured: readonly SealingKey[],
): readonly EncryptionKey[] {
  const known = new Set(configured.map(fingerprintOf))
  return stored.filter(({ fingerprint, unusedSince }) => unusedSince === null && !known.has(fingerprint))
}

/** Returns how messages name a key. */
export function describeEncryptionKey({ id }: Pick<EncryptionKey, 'id'>): string {
  return id === null ? 'the key of ENCRYPTION_KEY' : `the key "${id}"`
}
