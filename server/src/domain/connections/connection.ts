import type { Mode } from '../../values/mode.ts'
import type { Scope } from '../../values/scope.ts'

/**
 * What one user's consent gave to one client, for one agent in one (account, mode). The specification calls it a
 * session or grant family. When it ends, its code and all its tokens stop working.
 *
 * A connection starts open with the consent and becomes connected when the code is exchanged. It is revoked for good by
 * its client, by a member of the workspace, or when one of its codes or refresh tokens is used a second time. Otherwise
 * it ends when its current refresh token expires. It does not work while the user who consented is not allowed to
 * connect applications, or if that user left the workspace and joined it again after the consent.
 */
export interface Connection {
  readonly accountId: string
  readonly id: string
  readonly mode: Mode
  readonly agentId: string
  /** The user who consented. */
  readonly userId: string
  readonly clientId: string
  readonly scopes: readonly Scope[]
  readonly resource: string | null
  /** The subject of the connection's rate limit (D32): all its tokens share one budget. */
  readonly rateSubject: Buffer
  readonly createdAt: Date
  /** When the current refresh token expires (D30); before the first exchange, when the code expires. */
  readonly expiresAt: Date
}

export type RevocationCause = 'client' | 'user' | 'code_replay' | 'refresh_reuse'

/** What members of the workspace see of a connection. */
export interface ConnectionSummary {
  readonly id: string
  readonly client: { readonly id: string; readonly name: string; readonly redirectHosts: readonly string[] }
  readonly mode: Mode
  readonly agentId: string
  readonly scopes: readonly Scope[]
  readonly userId: string
  readonly userName: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** When a request with one of its tokens was last counted against the rate limit. Null if never. */
  readonly lastUsedAt: Date | null
}
