import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Without this option, Node accepts a shorter tag, which is easier to guess. */
const OPTIONS = { authTagLength: TAG_BYTES } as const
export const SEALING_KEY_BYTES = 32

/**
 * Encrypts and decrypts secrets that we must be able to read again (AES-256-GCM). `context` names the place where the
 * secret is stored. A ciphertext can be decrypted only with the same context, so it is useless if someone copies it to
 * another place.
 */
export interface Sealer {
  seal(plaintext: string, context: string): Buffer
  /** Throws if the bytes were changed, or were sealed with another key or context. */
  open(sealed: Buffer, context: string): string
}

export function createSealer(key: Buffer): Sealer {
  if (key.length !== SEALING_KEY_BYTES) throw new Error(`the encryption key must have ${SEALING_KEY_BYTES} bytes`)
  return {
    seal(plaintext, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce, OPTIONS).setAAD(Buffer.from(context))
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
    },
    open(sealed, context) {
      const nonce = sealed.subarray(0, NONCE_BYTES)
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
      const decipher = createDecipheriv(ALGORITHM, key, nonce, OPTIONS).setAAD(Buffer.from(context)).setAuthTag(tag)
      return decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}
