import type { Scope } from '../../values/scope.ts'
import { hostOfClientUrl } from './client-url.ts'

/**
 * How the service knows a client. A `registered` client has sent its metadata to the service. The id of a `document`
 * client is the URL of a document with its metadata (D73).
 */
export type ClientKind = 'registered' | 'document'

/** An OAuth client. It is a public client, so it has no secret. Nobody has verified its name. */
export interface Client {
  readonly id: string
  readonly kind: ClientKind
  readonly name: string
  /**
   * The redirect URIs, at least one. They are stored exactly as registered, because they are compared as strings
   * (D36a).
   */
  readonly redirectUris: readonly string[]
  /** The scopes that the client may request. */
  readonly scopes: readonly Scope[]
  readonly createdAt: Date
  /** When a user last approved or denied one of the client's requests. Null if no user has. */
  readonly lastUsedAt: Date | null
  /** When the client's document was last read. Null for a registered client, and for a built-in copy of a document. */
  readonly fetchedAt: Date | null
  /** Until when the stored copy of the document is used without reading it again. Null for a registered client. */
  readonly freshUntil: Date | null
}

/**
 * Returns the host that identifies a client to people: the host that serves its document. Only the owner of that host
 * can publish a document there. Null for a registered client, which has no verified identity.
 */
export function identityHostOf({ id, kind }: Pick<Client, 'id' | 'kind'>): string | null {
  return kind === 'document' ? hostOfClientUrl(id) : null
}

/**
 * Returns the distinct hosts of the client's redirect URIs. They identify a client better than its name, which the
 * client chooses freely.
 */
export function redirectHostsOf({ redirectUris }: Pick<Client, 'redirectUris'>): string[] {
  return [...new Set(redirectUris.map(hostOf))]
}

/** Returns the host of a redirect URI. On loopback any port is allowed (D36a), so the port is left out there. */
function hostOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri)
  return protocol === 'https:' ? host : hostname
}
