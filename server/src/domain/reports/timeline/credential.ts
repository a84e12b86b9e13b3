/** The API key or the connection that requested a payment. `name` is the key's name, or the name that the client registered. */
export interface Credential {
  readonly kind: 'key' | 'connection'
  readonly id: string
  /** Null if it has none. */
  readonly name: string | null
}
