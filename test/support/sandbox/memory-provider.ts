import assert from 'node:assert/strict'
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'

export const REDIRECT_URI = 'http://127.0.0.1:8912/callback'

/** Keeps the OAuth state of one MCP client in memory. Both generations of the SDK accept it as their provider. */
export class MemoryProvider implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URI
  readonly clientMetadata = { client_name: 'MCP SDK', redirect_uris: [REDIRECT_URI] }
  /** The URL of the client's metadata document. Undefined if the client registers itself. */
  declare readonly clientMetadataUrl?: string
  #client: OAuthClientInformationMixed | undefined
  #tokens: OAuthTokens | undefined
  #discovery: OAuthDiscoveryState | undefined
  #verifier = ''
  #redirect: URL | undefined

  constructor({ clientMetadataUrl }: { clientMetadataUrl?: string } = {}) {
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl
  }
  state(): string {
    return 'a state with + / = in it'
  }
  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.#client
  }
  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client
  }
  tokens(): OAuthTokens | undefined {
    return this.#tokens
  }
  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state
  }
  redirectToAuthorization(url: URL): void {
    this.#redirect = url
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }
  codeVerifier(): string {
    return this.#verifier
  }
  invalidateCredentials(kind: string): void {
    if (kind === 'tokens' || kind === 'all') this.#tokens = undefined
    if (kind === 'client' || kind === 'all') this.#client = undefined
  }
  /** Returns the last authorization URL to which the client has sent its user. */
  takeRedirect(): URL {
    assert.ok(this.#redirect !== undefined)
    return this.#redirect
  }
  tokensNow(): OAuthTokens {
    assert.ok(this.#tokens !== undefined)
    return this.#tokens
  }
  clientId(): string {
    return String(this.#client?.client_id)
  }
}
