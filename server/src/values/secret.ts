import { createHmac, hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * The format of every secret that the service generates: a prefix for its kind, 43 random base62 characters (256 bits),
 * and 6 check characters. With the check characters we recognize a typo without a database query, and secret scanners
 * can match the format.
 *
 * A secret is shown once, and only its hash is stored. The secrets that sign webhooks are stored encrypted instead,
 * because we need them to sign.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(BASE62.length)
const ENTROPY_CHARS = 43
const CHECK_CHARS = 6
const BODY_PATTERN = new RegExp(`^[0-9A-Za-z]{${ENTROPY_CHARS + CHECK_CHARS}}$`)

/**
 * The prefixes of secrets. The specification (part 5) defines them, except for those that are used only within this
 * service.
 */
export const SECRET_PREFIXES = {
  accessToken: 'svc_oat_',
  refreshToken: 'svc_ort_',
  authorizationCode: 'svc_oac_',
  webhook: 'whsec_',
  /** The handle of an OAuth authorization request that waits for a person's decision. */
  requestHandle: 'svc_oar_',
  session: 'svc_ses_',
  ceremony: 'svc_cer_',
  invitation: 'svc_inv_',
} as const

export function createSecret(prefix: string): string {
  let body = prefix
  for (let index = 0; index < ENTROPY_CHARS; index += 1) body += BASE62.charAt(randomInt(BASE62.length))
  return body + checkCharacters(body)
}

/**
 * Derives a secret from another secret: the same arguments always give the same result. Without `key`, nobody can
 * compute it, even if they know all of `from`. 43 base62 characters are just enough for the 256 bits of the HMAC.
 */
export function deriveSecret(prefix: string, key: Buffer, from: readonly (string | null)[]): string {
  const digest = createHmac('sha256', key).update(JSON.stringify([prefix, ...from]))
  let rest = BigInt(`0x${digest.digest('hex')}`)
  let characters = ''
  for (let index = 0; index < ENTROPY_CHARS; index += 1) {
    characters = BASE62.charAt(Number(rest % BASE)) + characters
    rest /= BASE
  }
  return prefix + characters + checkCharacters(prefix + characters)
}

/** Returns false if the format or the check characters are wrong, which means that we never generated this secret. */
export function isSecret(prefix: string, text: string): boolean {
  if (!text.startsWith(prefix) || !BODY_PATTERN.test(text.slice(prefix.length))) return false
  return text.slice(-CHECK_CHARS) === checkCharacters(text.slice(0, -CHECK_CHARS))
}

/** SHA-256 is enough, because the secret has 256 bits of randomness. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function checkCharacters(body: string): string {
  let value = crc32(body)
  let text = ''
  for (let index = 0; index < CHECK_CHARS; index += 1) {
    text = BASE62.charAt(value % BASE62.length) + text
    value = Math.floor(value / BASE62.length)
  }
  return text
}
