/** What asked for a payment: an API key, by its name, or a connection, by what the client calls itself. */
export interface Credential {
  readonly kind: 'key' | 'connection'
  readonly id: string
  /** Null where it has none. */
  readonly name: string | null
}
