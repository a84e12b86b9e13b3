import type { Mode } from '../../values/mode.ts'
import type { Scope } from '../../values/scope.ts'

/**
 * A connection: what one person's consent gave to one client, in one (account, mode), for one agent. The specification's
 * session, or grant family: its code and all its tokens die with it.
 *
 * It is open from the consent on, connected once the code was exchanged, and revoked for good by its client, by a person
 * of the workspace, or because a code or refresh token of it was used a second time. Without that it ends with its
 * current refresh token. While the person that consented is not a member who may connect, or is one by a later
 * membership than that of the consent, it is worth nothing.
 */
export interface Connection {
  readonly accountId: string
  readonly id: string
  readonly mode: Mode
  readonly agentId: string
  /** Who consented. */
  readonly userId: string
  readonly clientId: string
  readonly scopes: readonly Scope[]
  readonly resource: string | null
  /** Whose budget its requests count against (D32): its own, whichever token they come with. */
  readonly rateSubject: Buffer
  readonly createdAt: Date
  /** The end of the current refresh token (D30); of the code before the first exchange. */
  readonly expiresAt: Date
}

export type RevocationCause = 'client' | 'user' | 'code_replay' | 'refresh_reuse'

/** What a workspace is shown of a connection. */
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
  /** When a request with a token of it was last counted against its rate; null: never. */
  readonly lastUsedAt: Date | null
}
