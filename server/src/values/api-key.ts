import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { MODES, type Mode } from './mode.ts'

/** `svc_<mode>_`, 43 random base62 characters, and 6 that check them (D29). Shown once; only its hash is stored. */
export type ApiKeySecret = string & { readonly __kind: 'api key secret' }

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ENTROPY_CHARS = 43
const CHECK_CHARS = 6
const PATTERN = new RegExp(`^svc_(${MODES.join('|')})_[0-9A-Za-z]{${ENTROPY_CHARS}}([0-9A-Za-z]{${CHECK_CHARS}})$`)

export function createApiKeySecret(mode: Mode): ApiKeySecret {
  let body = `svc_${mode}_`
  for (let index = 0; index < ENTROPY_CHARS; index += 1) body += BASE62.charAt(randomInt(BASE62.length))
  return (body + checkCharacters(body)) as ApiKeySecret
}

/** Answers null for anything whose form or check characters are wrong: such a key was never issued. */
export function parseApiKeySecret(text: string): ApiKeySecret | null {
  const match = PATTERN.exec(text)
  if (match === null || match[2] !== checkCharacters(text.slice(0, -CHECK_CHARS))) return null
  return text as ApiKeySecret
}

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
