import { MODES, type Mode } from './mode.ts'
import { createSecret, isSecret, type Cell } from './secret.ts'

/**
 * An API key's secret: `svc_<mode>_`, and then the random part that every secret has (D29). It is shown once, and only
 * its hash is stored.
 */
export type ApiKeySecret = string & { readonly __kind: 'api key secret' }

export function createApiKeySecret(mode: Mode, cell: Cell | null = null): ApiKeySecret {
  return createSecret(prefixOf(mode), cell) as ApiKeySecret
}

/** Returns null if the format or the check characters are wrong, which means that we never created this key. */
export function parseApiKeySecret(text: string): ApiKeySecret | null {
  return MODES.some((mode) => isSecret(prefixOf(mode), text)) ? (text as ApiKeySecret) : null
}

/**
 * The last four characters of a key, by which people recognize it. They are shown and stored in plain text, and still
 * the key cannot be guessed: they are check characters, computed from the characters before them, so they reveal at most
 * 24 of the key's random bits.
 */
export function lastFourOf(secret: ApiKeySecret): string {
  return secret.slice(-4)
}

function prefixOf(mode: Mode): string {
  return `svc_${mode}_`
}
