/** The scopes (specification, part 5), in the order in which they are listed. An API key has all of them. */
export const SCOPES = ['wallet:read', 'wallet:transfer', 'x402:pay'] as const

export type Scope = (typeof SCOPES)[number]

/** RFC 6749, appendix A.4: `scope-token *( SP scope-token )`. */
const SCOPE_TEXT_PATTERN = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/

/**
 * Parses a `scope` parameter. Returns those of our scopes that it names, each once and in our order. Unknown scopes are
 * dropped, because clients ask for `offline_access` and the like without being told to. Returns null if the text itself
 * is malformed (RFC 6749, section 3.3).
 */
export function parseScopes(text: string): Scope[] | null {
  if (!SCOPE_TEXT_PATTERN.test(text)) return null
  const named = new Set(text.split(' '))
  return SCOPES.filter((scope) => named.has(scope))
}

export function formatScopes(scopes: readonly Scope[]): string {
  return scopes.join(' ')
}

/** Parses scopes from the database. */
export function toScopes(names: readonly string[]): Scope[] {
  return SCOPES.filter((scope) => names.includes(scope))
}

/** What each scope grants (specification, part 5). */
export const SCOPE_DESCRIPTIONS: Readonly<Record<Scope, string>> = {
  'wallet:read': 'Read agent identity, wallets, spending limits and payment history.',
  'wallet:transfer': 'Send USDC via payment creation, within the on-chain caps.',
  'x402:pay': 'Pay x402-paywalled HTTP services.',
}
