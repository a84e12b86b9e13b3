import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Without this option, Node accepts a shorter tag, which is easier to guess. */
const OPTIONS = { authTagLength: TAG_BYTES } as const
export const SEALING_KEY_BYTES = 32
const FINGERPRINT_BYTES = 16
export const KEY_ID_PATTERN = /^[a-zA-Z0-9-]{1,16}$/
/** What the ciphertexts of a key with an id begin with. */
const MARK_PATTERN = /^key:([a-zA-Z0-9-]{1,16}):/
const MARK_BYTES_MAX = 21

export interface SealingKey {
  /**
   * The key's name in `ENCRYPTION_KEYS`. What the key encrypts begins with it. Null for the key of `ENCRYPTION_KEY`,
   * whose ciphertexts have no beginning of their own.
   */
  readonly id: string | null
  readonly key: Buffer
}

/**
 * Encrypts and decrypts secrets that we must be able to read again (AES-256-GCM). `context` names the place where the
 * secret is stored. A ciphertext can be decrypted only with the same context, so it is useless if someone copies it to
 * another place.
 */
export interface Sealer {
  /** What every ciphertext of the newest key begins with. Empty if this key has no id. */
  readonly mark: Buffer
  /** Encrypts with the newest key. */
  seal(plaintext: string, context: string): Buffer
  /** Throws if the bytes were changed, or were sealed with another context or with a key that we do not have. */
  open(sealed: Buffer, context: string): string
}

/**
 * A secret as it was read, and the same secret encrypted with the newest key. Null if it is not replaced. A statement
 * replaces a secret only if it is still the one that was read, because another process may have stored a new one.
 */
export type Replacement = { readonly old: Buffer; readonly new: Buffer } | null

/** Creates a sealer. The newest key comes first. The other keys only decrypt. */
export function createSealer(keys: readonly SealingKey[]): Sealer {
  const [newest] = keys
  if (newest === undefined) throw new Error('there is no encryption key')
  for (const { key } of keys) {
    if (key.length !== SEALING_KEY_BYTES) throw new Error(`an encryption key must have ${SEALING_KEY_BYTES} bytes`)
  }
  const mark = Buffer.from(newest.id === null ? '' : `key:${newest.id}:`)
  return {
    mark,
    seal(plaintext, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, newest.key, nonce, OPTIONS).setAAD(Buffer.from(context))
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return Buffer.concat([mark, nonce, cipher.getAuthTag(), ciphertext])
    },
    open(sealed, context) {
      let failure: unknown
      for (const { key, bytes } of listTries(keys, sealed)) {
        try {
          return decrypt(key, bytes, context)
        } catch (error) {
          failure ??= error
        }
      }
      throw failure
    },
  }
}

/**
 * Returns a name of a key that does not reveal it: two keys have the same fingerprint only if they are the same key.
 */
export function fingerprintOf({ key }: SealingKey): string {
  const hash = createHmac('sha256', key).update('fingerprint of a Bursar encryption key').digest()
  return hash.subarray(0, FINGERPRINT_BYTES).toString('hex')
}

/**
 * Lists the ways to decrypt the bytes, the likeliest first. Usually the first one is right: the key that the mark names,
 * or the only key. But the operator may have renamed a key, or given it an id that it did not have before. To try a
 * wrong key is safe, because the bytes contain an authentication tag.
 */
function* listTries(keys: readonly SealingKey[], sealed: Buffer): Generator<{ key: Buffer; bytes: Buffer }> {
  const [mark, id] = MARK_PATTERN.exec(sealed.toString('latin1', 0, MARK_BYTES_MAX)) ?? []
  if (mark !== undefined) {
    const bytes = sealed.subarray(mark.length)
    for (const known of keys) if (known.id === id) yield { key: known.key, bytes }
    for (const known of keys) if (known.id !== id) yield { key: known.key, bytes }
  }
  for (const { key } of keys) yield { key, bytes: sealed }
}

function decrypt(key: Buffer, bytes: Buffer, context: string): string {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, OPTIONS).setAAD(Buffer.from(context)).setAuthTag(tag)
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
