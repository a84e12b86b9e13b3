import type { Mode } from '../../values/mode.ts'

/** What can go wrong with a connection (D73a). The dashboard has a sentence for each code. */
export const CONNECTION_ERROR_CODES = [
  'code_not_exchanged',
  'code_expired',
  'code_used_twice',
  'code_blocked',
  'client_mismatch',
  'redirect_uri_mismatch',
  'code_verifier_mismatch',
  'resource_mismatch',
  'refresh_token_used_twice',
  'scope_not_granted',
  'scope_missing',
  'connection_ended',
  'connection_expired',
  'consent_lost',
] as const

export type ConnectionErrorCode = (typeof CONNECTION_ERROR_CODES)[number]

/**
 * An error of a connection, as members of the workspace see it. It contains no secret and nothing that a client sent.
 */
export interface ConnectionError {
  readonly connectionId: string
  readonly client: {
    readonly id: string
    /** How the service knows the client (D73). */
    readonly kind: 'registered' | 'document'
    readonly name: string
    readonly redirectUris: readonly string[]
  }
  readonly mode: Mode
  readonly agentId: string
  /** The name of the user who consented. */
  readonly userName: string
  readonly code: ConnectionErrorCode
  /** When the error last happened. */
  readonly happenedAt: Date
}

/** The same error of a connection is written at most once in this time, however often it happens. */
export const RECORD_INTERVAL_MS = 60 * 1_000
export const ERROR_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000
/** A list shows at most this many errors, the newest ones. */
export const ERRORS_LISTED_MAX = 10
