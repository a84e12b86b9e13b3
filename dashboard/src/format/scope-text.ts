import type { Scope } from '@bursar/server/src/console/contract/connections.ts'

interface ScopeText {
  readonly title: string
  readonly meaning: string
  /** In a list of several. */
  readonly short: string
}

/** What each scope lets an application do (specification, part 5), in the words of the person who decides. */
export const SCOPE_TEXTS: Readonly<Record<Scope, ScopeText>> = {
  'wallet:read': {
    title: 'See the agent’s wallets, limits and payments',
    meaning: 'It reads addresses, spending limits and past payments. It moves nothing.',
    short: 'see wallets and payments',
  },
  'wallet:transfer': {
    title: 'Send USDC',
    meaning: 'It pays from the agent’s wallets, within its grants: whom they allow, and within their limits.',
    short: 'send USDC',
  },
  'x402:pay': {
    title: 'Pay for web services (x402)',
    meaning: 'It pays online services that ask a price for an answer, within the agent’s limits.',
    short: 'pay for web services',
  },
}

/** `see wallets and payments, send USDC`. */
export function formatScopeList(scopes: readonly Scope[]): string {
  return scopes.map((scope) => SCOPE_TEXTS[scope].short).join(', ')
}
