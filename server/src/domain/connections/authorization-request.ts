import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import type { Scope } from '../../values/scope.ts'
import type { Membership } from '../members/member.ts'
import type { Client } from './client.ts'

/**
 * A validated authorization request that waits for a user's decision. The secret that identifies the request is called
 * its handle. Only the hash of the handle is stored.
 */
export interface AuthorizationRequest {
  readonly client: Client
  /** The URI to which the response is sent, exactly as in the request, including the port. */
  readonly redirectUri: string
  readonly scopes: readonly Scope[]
  readonly state: string
  /** The base64url SHA-256 of the code verifier (RFC 7636, method S256). */
  readonly codeChallenge: string
  /**
   * The requested resource (RFC 8707). Null if the request named no resource. The tokens are then valid for all
   * resources of the service.
   */
  readonly resource: string | null
  /** The agent that the client suggested. The user may choose another one. */
  readonly agentId: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly decidedAt: Date | null
}

/** A user's decision on a request. */
export type Decision =
  | { readonly approve: false }
  | {
      readonly approve: true
      /** The membership of the user who decides. Their role is admin or owner. */
      readonly membership: Membership
      readonly mode: Mode
      readonly agentId: AgentId
      /** The requested scopes that the user grants. Null grants all requested scopes. */
      readonly scopes: readonly Scope[] | null
    }

/** The response to the client at its redirect URI (RFC 6749, sections 4.1.2 and 4.1.2.1). */
export type AuthorizationResponse =
  | { readonly redirectUri: string; readonly state: string; readonly code: string; readonly error?: undefined }
  | { readonly redirectUri: string; readonly state: string; readonly error: 'access_denied'; readonly code?: undefined }
