import type { Scope } from '@bursar/server/src/console/contract/connections.ts'

interface ScopeText {
  readonly title: string
  readonly meaning: string
  /** For a list of scopes. */
  readonly short: string
}

/** What each scope lets an application do, in words for the user who approves it. */
export const SCOPE_TEXTS: Readonly<Record<Scope, ScopeText>> = {
  'wallet:read': {
    title: 'See the agent’s wallets, limits and payments',
    meaning: 'Reads wallet addresses, spending limits and past payments. Can’t move money.',
    short: 'see wallets and payments',
  },
  'wallet:transfer': {
    title: 'Send USDC',
    meaning: 'Sends payments from the agent’s wallets, within the recipients and limits of its grants.',
    short: 'send USDC',
  },
  'x402:pay': {
    title: 'Pay for web services (x402)',
    meaning: 'Pays online services that charge per request, within the agent’s limits.',
    short: 'pay for web services',
  },
}

/** `see wallets and payments, send USDC`. */
export function formatScopeList(scopes: readonly Scope[]): string {
  return scopes.map((scope) => SCOPE_TEXTS[scope].short).join(', ')
}
