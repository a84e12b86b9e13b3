import { createHmac, hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * The format of every secret that the service generates: a prefix for its kind, 43 base62 characters, which are random
 * (256 bits) unless they begin with the name of a cell, and 6 check characters. With the check characters we recognize a typo without a database query, and secret scanners
 * can match the format.
 *
 * A secret is shown once, and only its hash is stored. The secrets that sign webhooks are stored encrypted instead,
 * because we need them to sign.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(BASE62.length)
const ENTROPY_CHARS = 43
const CHECK_CHARS = 6
/** The characters with which the secrets of a cell begin after their prefix (D95). */
const CELL_CHARS = 3
/** Cells are named by these characters. */
const CELL_PATTERN = new RegExp(`^[0-9A-Za-z]{${CELL_CHARS}}$`)
/** The start value of the checksum of a secret that carries its cell. So it is never taken for a random one. */
const CELL_CHECK_START = 0x43_45_4c_4c
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

/** The name of a cell, which is three characters of base62 (D95). */
export type Cell = string & { readonly __kind: 'cell' }

/** Returns null if the text is not the name of a cell. */
export function parseCell(text: string): Cell | null {
  return CELL_PATTERN.test(text) ? (text as Cell) : null
}

/**
 * Creates a secret. If `cell` is given, the secret begins with its name after the prefix, so that a router can choose
 * the cell. Such a secret has 40 random characters (238 bits), and has the same form as one without a cell.
 */
export function createSecret(prefix: string, cell: Cell | null = null): string {
  let body = prefix + (cell ?? '')
  while (body.length < prefix.length + ENTROPY_CHARS) body += BASE62.charAt(randomInt(BASE62.length))
  return body + checkCharacters(body, checkStartOf(cell))
}

/**
 * Derives a secret from another secret: the same arguments always give the same result. Without `key`, nobody can
 * compute it, even if they know all of `from`. 43 base62 characters are just enough for the 256 bits of the HMAC. With
 * `cell`, as in `createSecret`, the secret has 40 of them.
 */
export function deriveSecret(
  prefix: string,
  { key, from, cell = null }: { key: Buffer; from: readonly (string | null)[]; cell?: Cell | null },
): string {
  const digest = createHmac('sha256', key).update(JSON.stringify([prefix, ...from]))
  let rest = BigInt(`0x${digest.digest('hex')}`)
  let characters = ''
  while (characters.length < ENTROPY_CHARS - (cell ?? '').length) {
    characters = BASE62.charAt(Number(rest % BASE)) + characters
    rest /= BASE
  }
  const body = prefix + (cell ?? '') + characters
  return body + checkCharacters(body, checkStartOf(cell))
}

function checkStartOf(cell: Cell | null): number {
  return cell === null ? 0 : CELL_CHECK_START
}

/** Returns false if the format or the check characters are wrong, which means that we never generated this secret. */
export function isSecret(prefix: string, text: string): boolean {
  if (!text.startsWith(prefix) || !BODY_PATTERN.test(text.slice(prefix.length))) return false
  const [body, check] = [text.slice(0, -CHECK_CHARS), text.slice(-CHECK_CHARS)]
  return check === checkCharacters(body) || check === checkCharacters(body, CELL_CHECK_START)
}

/** SHA-256 is enough, because the secret has 256 bits of randomness. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function checkCharacters(body: string, start = 0): string {
  let value = crc32(body, start)
  let text = ''
  for (let index = 0; index < CHECK_CHARS; index += 1) {
    text = BASE62.charAt(value % BASE62.length) + text
    value = Math.floor(value / BASE62.length)
  }
  return text
}
