import type { Scope } from '../../values/scope.ts'

/** An OAuth client. It is public, so it has no secret, and nobody has verified what it says about itself. */
export interface Client {
  readonly id: string
  readonly name: string
  /** At least one, exactly as registered: redirect URIs are compared as strings (D36a). */
  readonly redirectUris: readonly string[]
  /** The scopes that the client may request. */
  readonly scopes: readonly Scope[]
  readonly createdAt: Date
  /** When a user last decided on one of its requests. Null if nobody has. */
  readonly lastUsedAt: Date | null
}

/**
 * Returns the distinct hosts that the client's users are sent back to. They identify a client better than its name,
 * which anyone can choose.
 */
export function redirectHostsOf({ redirectUris }: Pick<Client, 'redirectUris'>): string[] {
  return [...new Set(redirectUris.map(hostOf))]
}

/** A loopback redirect URI may use any port (D36a), so the port is left out. */
function hostOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri)
  return protocol === 'https:' ? host : hostname
}
