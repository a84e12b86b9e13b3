import type { ConnectionErrorCode } from './connection-error.ts'

/** What a client presented, and the error that the client got. Secrets are left out, except as hashes. */
export type Attempt =
  | {
      readonly kind: 'code'
      readonly error: 'invalid_grant' | 'invalid_scope' | 'invalid_target'
      readonly clientId: string
      readonly redirectUri: string
      /** The challenge computed from the sent code verifier. */
      readonly codeChallenge: string
      /** A code stops working after this many failures. */
      readonly failuresMax: number
    }
  | {
      readonly kind: 'refresh_token'
      readonly error: 'invalid_grant' | 'invalid_scope' | 'invalid_target'
      readonly clientId: string
    }
  | { readonly kind: 'access_token'; readonly error: 'invalid_token' | 'insufficient_scope' }

/** The stored code or token that a client presented, with its connection. */
export interface Presented {
  readonly clientId: string
  /** Why the connection was revoked. Null if it was not. */
  readonly revokedBecause: string | null
  /** When the code or token expires. */
  readonly expiresAt: Date
  /** `redirectUri` and `codeChallenge` are null unless a code was presented. */
  readonly redirectUri: string | null
  readonly codeChallenge: string | null
  /** How many exchanges of the code had a wrong value; 0 for a token. */
  readonly failures: number
}

/**
 * Decides which error the dashboard shows for a failed attempt (D73a). Returns null for an access token that has only
 * expired, because that is no fault: the client then refreshes it.
 */
export function decideConnectionError(attempt: Attempt, presented: Presented, now: Date): ConnectionErrorCode | null {
  if (attempt.error === 'invalid_target') return 'resource_mismatch'
  if (attempt.error === 'invalid_scope') return 'scope_not_granted'
  if (attempt.error === 'insufficient_scope') return 'scope_missing'
  if (attempt.kind !== 'access_token' && attempt.clientId !== presented.clientId) return 'client_mismatch'
  if (attempt.kind === 'code' && attempt.redirectUri !== presented.redirectUri) return 'redirect_uri_mismatch'
  if (attempt.kind === 'code' && attempt.codeChallenge !== presented.codeChallenge) return 'code_verifier_mismatch'
  if (presented.revokedBecause === 'code_replay') return 'code_used_twice'
  if (presented.revokedBecause === 'refresh_reuse') return 'refresh_token_used_twice'
  if (presented.revokedBecause !== null) return 'connection_ended'
  if (attempt.kind === 'code' && presented.failures >= attempt.failuresMax) return 'code_blocked'
  if (presented.expiresAt <= now) return EXPIRED[attempt.kind]
  // Nothing else is left: the code or token is valid, and the connection is not revoked.
  return 'consent_lost'
}

const EXPIRED = { code: 'code_expired', refresh_token: 'connection_expired', access_token: null } as const
