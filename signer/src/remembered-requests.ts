import { fromBase64Url, toBase64Url, type Bytes } from './bytes.ts'
import { decodeRequest, type Decoded } from './decode/request.ts'
import type { RuleTerms } from './decode/rules.ts'
import { Refusal } from './refusal.ts'
import type { Store } from './store.ts'

const PREFIX = 'signed-request:'

/** What was signed last in this browser for a policy, or for a list of owners. */
export interface Remembered {
  readonly signedAt: Date
  /** The terms of the policy. Null if the signature ended the grant. Requests of earlier versions have no 24-hour limit. */
  readonly terms: RuleTerms | null
  /** The owners (base64 SPKI). Empty for a policy. */
  readonly publicKeys: readonly string[]
}

/**
 * Returns what was signed last in this browser for the same policy, or for the same list of owners. The page compares
 * a request with it, so that it does not depend on what the service says about the terms before. Another owner may have
 * signed since, or the same owner in another browser.
 */
export function findRemembered(store: Store, decoded: Decoded): Remembered | null {
  const name = nameOf(decoded)
  const [time = '', payload = ''] = (name === null ? null : store.getItem(name))?.split(' ') ?? []
  const bytes = fromBase64Url(payload)
  const signedAt = new Date(time)
  if (bytes === null || bytes.length === 0 || Number.isNaN(signedAt.getTime())) return null
  try {
    const request = decodeRequest(bytes)
    return {
      signedAt,
      terms: request.kind === 'policy' ? request.terms : null,
      publicKeys: request.kind === 'owners' ? request.publicKeys : [],
    }
  } catch (error) {
    // An earlier version of this page may have signed a request that this version no longer reads.
    if (error instanceof Refusal) return null
    throw error
  }
}

/**
 * To be called only after the passkey has signed the request. Requests that are compared with nothing are not
 * remembered. If the browser has no room, the page forgets the earlier request too, because it is no longer the last
 * one.
 */
export function rememberRequest(
  store: Store,
  { decoded, payload, signedAt }: { decoded: Decoded; payload: Bytes; signedAt: Date },
): void {
  const name = nameOf(decoded)
  if (name === null) return
  store.removeItem(name)
  try {
    store.setItem(name, `${signedAt.toISOString()} ${toBase64Url(payload)}`)
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'QuotaExceededError')) throw error
  }
}

/** Returns the name under which a request is remembered. Null for a request that replaces no earlier one. */
function nameOf(decoded: Decoded): string | null {
  if (decoded.kind !== 'policy' && decoded.kind !== 'owners') return null
  const id = decoded.kind === 'policy' ? decoded.policyId : decoded.quorumId
  return `${PREFIX}${decoded.enclaveUrl} ${decoded.appId} ${id}`
}
