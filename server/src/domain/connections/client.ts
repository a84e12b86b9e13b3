import type { Scope } from '../../values/scope.ts'

/** An OAuth client: public, so without a secret. What it says of itself nobody has checked. */
export interface Client {
  readonly id: string
  readonly name: string
  /** As they were registered (D36a); at least one. */
  readonly redirectUris: readonly string[]
  /** What it may ask for at the most. */
  readonly scopes: readonly Scope[]
  readonly createdAt: Date
  /** When a person last decided on a request of it; null: never. */
  readonly lastUsedAt: Date | null
}

/** The hosts that the client's users are sent back to, each once: what tells a client better than its name does. */
export function redirectHostsOf({ redirectUris }: Pick<Client, 'redirectUris'>): string[] {
  return [...new Set(redirectUris.map(hostOf))]
}

/** On loopback any port will do (D36a), so it says nothing. */
function hostOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri)
  return protocol === 'https:' ? host : hostname
}
