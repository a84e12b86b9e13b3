import type { Scope } from '@bursar/server/src/console/contract/connections.ts'

interface ScopeText {
  readonly title: string
  /** Must equal the description of the scope in `openapi.json`. A test compares the two texts. */
  readonly meaning: string
  /** The text of the scope in a list of scopes. */
  readonly short: string
}

/** What each scope lets an application do, in words for the user who approves it. */
export const SCOPE_TEXTS: Readonly<Record<Scope, ScopeText>> = {
  'wallet:read': {
    title: 'Read the workspace’s agents, payments and events',
    meaning:
      'Reads all agents of the workspace with their wallets, limits and payments, and all events, in one mode (test or live). Cannot move money.',
    short: 'read agents, payments and events',
  },
  'wallet:transfer': {
    title: 'Send USDC',
    meaning: 'Sends payments within the limits of the signed grants, and only to allowed recipients.',
    short: 'send USDC',
  },
  'x402:pay': {
    title: 'Buy web resources',
    meaning:
      'Buys web resources that ask for a payment (x402, MPP), within the limits of the signed grants that allow purchases.',
    short: 'buy web resources',
  },
}

/** The scope whose access every credential has, because any scope is enough to read (specification, part 5). */
export const READ_SCOPE: Scope = 'wallet:read'

/** All scopes, in the order in which they are shown. */
export const SCOPE_NAMES = Object.keys(SCOPE_TEXTS) as readonly Scope[]

/** Lists what a credential with these scopes can do, which always includes reading. */
export function formatScopeList(scopes: readonly Scope[]): string {
  const allowed = SCOPE_NAMES.filter((scope) => scope === READ_SCOPE || scopes.includes(scope))
  return allowed.map((scope) => SCOPE_TEXTS[scope].short).join(', ')
}
