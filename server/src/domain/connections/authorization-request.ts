import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import type { Scope } from '../../values/scope.ts'
import type { Membership } from '../members/member.ts'
import type { Client } from './client.ts'

/** A checked authorization request that waits for a person's decision. Its handle is a secret, kept as a hash. */
export interface AuthorizationRequest {
  readonly client: Client
  /** Where the answer goes: as the request had it, port included. */
  readonly redirectUri: string
  readonly scopes: readonly Scope[]
  readonly state: string
  /** Base64url of the SHA-256 of the verifier (RFC 7636, S256). */
  readonly codeChallenge: string
  /** RFC 8707; null where the request named none, so any of ours. */
  readonly resource: string | null
  /** The agent that the request would like to have; the person picks. */
  readonly agentId: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly decidedAt: Date | null
}

/** What a person says to a request. */
export type Decision =
  | { readonly approve: false }
  | {
      readonly approve: true
      /** Of the person that decides, as an admin or owner. */
      readonly membership: Membership
      readonly mode: Mode
      readonly agentId: AgentId
      /** A part of what was asked for; null: all of it. */
      readonly scopes: readonly Scope[] | null
    }

/** What the client is told, at its redirect URI (RFC 6749, sections 4.1.2 and 4.1.2.1). */
export type Decided =
  | { readonly redirectUri: string; readonly state: string; readonly code: string; readonly error?: undefined }
  | { readonly redirectUri: string; readonly state: string; readonly error: 'access_denied'; readonly code?: undefined }
