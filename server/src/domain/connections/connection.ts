import type { Mode } from '../../values/mode.ts'
import type { Scope } from '../../values/scope.ts'
import type { Client } from './client.ts'

/**
 * The access that one user's consent gave to one client, for one agent of a workspace and mode. When a connection ends,
 * its code and all its tokens stop working.
 *
 * The consent creates the connection, and the exchange of its code makes it connected. Its client or a member of the
 * workspace can revoke it. It is also revoked when its code or one of its refresh tokens is used a second time. A
 * revocation is permanent. A connection that is not revoked ends when its current refresh token expires.
 *
 * The tokens work only while the user who consented is an owner or admin of the workspace. They do not work again after
 * that user has left the workspace, even if the user joins it again.
 */
export interface Connection {
  readonly workspaceId: string
  readonly id: string
  readonly mode: Mode
  readonly agentId: string
  /** The user who consented. */
  readonly userId: string
  readonly clientId: string
  readonly scopes: readonly Scope[]
  readonly resource: string | null
  /** Identifies the connection to the rate limiter (D32). All tokens of the connection share one rate limit. */
  readonly rateSubject: Buffer
  readonly createdAt: Date
  /** When the current refresh token expires (D30). Until the code is exchanged, this is when the code expires. */
  readonly expiresAt: Date
}

/** `restore`: all connections end after the database was restored from a backup (D96a). */
export type RevocationCause = 'client' | 'user' | 'code_replay' | 'refresh_reuse' | 'restore'

/** The data of a connection that members of the workspace can see. */
export interface ConnectionSummary {
  readonly id: string
  readonly client: Pick<Client, 'id' | 'kind' | 'name'> & { readonly redirectHosts: readonly string[] }
  readonly mode: Mode
  readonly agentId: string
  readonly scopes: readonly Scope[]
  readonly userId: string
  readonly userName: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** When a request with one of the connection's tokens was last counted against the rate limit. Null if never. */
  readonly lastUsedAt: Date | null
}
