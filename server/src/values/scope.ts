/**
 * All scopes (specification, part 5), in the order in which we list them. An API key has all of them, unless it was
 * restricted (D56).
 */
export const SCOPES = ['wallet:read', 'wallet:transfer', 'x402:pay'] as const

export type Scope = (typeof SCOPES)[number]

/** RFC 6749, appendix A.4: `scope-token *( SP scope-token )`. */
const SCOPE_TEXT_PATTERN = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/

/**
 * Parses a `scope` parameter. Returns those of our scopes that it names, each once and in our order. Ignores unknown
 * scopes, because many clients always ask for `offline_access` and others. Returns null if the text is malformed
 * (RFC 6749, section 3.3).
 */
export function parseScopes(text: string): Scope[] | null {
  if (!SCOPE_TEXT_PATTERN.test(text)) return null
  const named = new Set(text.split(' '))
  return SCOPES.filter((scope) => named.has(scope))
}

export function formatScopes(scopes: readonly Scope[]): string {
  return scopes.join(' ')
}

/** Returns those of the names that are our scopes, each once and in our order. */
export function toScopes(names: readonly string[]): Scope[] {
  return SCOPES.filter((scope) => names.includes(scope))
}

/**
 * What each scope allows (specification, part 5), in words for the user who approves it. Any scope is enough to read.
 */
export const SCOPE_DESCRIPTIONS: Readonly<Record<Scope, string>> = {
  'wallet:read':
    'Reads all agents of the workspace with their wallets, limits and payments, and all events, in one mode (test or live). Cannot move money.',
  'wallet:transfer': 'Sends payments within the limits of the signed grants, and only to allowed recipients.',
  'x402:pay':
    'Buys web resources that ask for a payment (x402, MPP), within the limits of the signed grants that allow purchases.',
}
