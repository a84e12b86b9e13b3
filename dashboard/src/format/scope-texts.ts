import { SCOPES, type Scope } from '@bursar/server/src/values/scope.ts'

interface ScopeText {
  readonly title: string
  /** The text of the scope in a list of scopes. */
  readonly short: string
}

/** The short texts of each scope. `SCOPE_DESCRIPTIONS` says what it allows. */
export const SCOPE_TEXTS: Readonly<Record<Scope, ScopeText>> = {
  'wallet:read': {
    title: 'Read the workspace’s agents, payments and events',
    short: 'read agents, payments and events',
  },
  'wallet:transfer': { title: 'Send USDC', short: 'send USDC' },
  'x402:pay': { title: 'Buy web resources', short: 'buy web resources' },
}

/** The scope whose access every credential has, because any scope is enough to read (specification, part 5). */
export const READ_SCOPE: Scope = 'wallet:read'

/** Lists what a credential with these scopes can do, which always includes reading. */
export function formatScopeList(scopes: readonly Scope[]): string {
  const allowed = SCOPES.filter((scope) => scope === READ_SCOPE || scopes.includes(scope))
  return allowed.map((scope) => SCOPE_TEXTS[scope].short).join(', ')
}
