import { MODES, type Mode } from './mode.ts'
import { createSecret, isSecret } from './secret.ts'

/**
 * An API key's secret: `svc_<mode>_` and the random part that every secret has (D29). Shown once; only its hash is
 * stored.
 */
export type ApiKeySecret = string & { readonly __kind: 'api key secret' }

export function createApiKeySecret(mode: Mode): ApiKeySecret {
  return createSecret(prefixOf(mode)) as ApiKeySecret
}

/** Returns null if the format or the check characters are wrong: such a key was never issued. */
export function parseApiKeySecret(text: string): ApiKeySecret | null {
  return MODES.some((mode) => isSecret(prefixOf(mode), text)) ? (text as ApiKeySecret) : null
}

function prefixOf(mode: Mode): string {
  return `svc_${mode}_`
}
