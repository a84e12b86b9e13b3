/**
 * The API key or OAuth connection that requested a payment. For a connection, `name` is the name that its client
 * registered.
 */
export interface Credential {
  readonly kind: 'key' | 'connection'
  readonly id: string
  /** Null if the key or client has no name. */
  readonly name: string | null
}
