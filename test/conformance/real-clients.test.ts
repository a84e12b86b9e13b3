import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import { openSharedAgentHost, type AgentHost } from '../support/sandbox/agent-host.ts'
import { MemoryProvider, REDIRECT_URI } from '../support/sandbox/memory-provider.ts'

const SCOPE = 'wallet:read wallet:transfer'
const INSECURE = { [oauth.allowInsecureRequests]: true }

/** Published OAuth and MCP clients do everything from discovery to revocation. */
describe('real clients', () => {
  let host: AgentHost
  before(async () => {
    host = await openSharedAgentHost()
  })

  test('oauth4webapi', async () => {
    const { authUrl, baseUrl } = host
    const issuer = new URL(authUrl)
    const resource = new URL(baseUrl)
    const server = await oauth.processResourceDiscoveryResponse(
      resource,
      await oauth.resourceDiscoveryRequest(resource, INSECURE),
    )
    assert.deepEqual(server.authorization_servers, [authUrl])
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE }),
    )
    const metadata = { client_name: 'oauth4webapi', redirect_uris: [REDIRECT_URI], scope: SCOPE }
    const client = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(as, metadata, INSECURE),
    )

    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const authorizeUrl = new URL(String(as.authorization_endpoint))
    authorizeUrl.search = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: REDIRECT_URI,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      scope: SCOPE,
      state,
      resource: baseUrl,
    }).toString()
    const callback = oauth.validateAuthResponse(as, client, await host.consent(authorizeUrl), state)
    const granted = await oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), callback, REDIRECT_URI, verifier, INSECURE),
    )
    assert.equal(granted.scope, SCOPE)
    const me = (token: string): Promise<Response> =>
      oauth.protectedResourceRequest(token, 'GET', new URL('/v1/me', baseUrl), undefined, undefined, INSECURE)
    assert.equal((await me(granted.access_token)).status, 200)

    const refresh = async (token: string) =>
      await oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(as, client, oauth.None(), token, INSECURE),
      )
    const refreshed = await refresh(String(granted.refresh_token))
    assert.equal((await me(refreshed.access_token)).status, 200)
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(as, client, oauth.None(), refreshed.access_token, INSECURE),
    )
    await assert.rejects(me(refreshed.access_token), oauth.WWWAuthenticateChallengeError)
    await assert.rejects(refresh(String(refreshed.refresh_token)), { error: 'invalid_grant' })
  })

  test('openid-client', async () => {
    const { authUrl, baseUrl } = host
    const config = await openid.dynamicClientRegistration(
      new URL(authUrl),
      { client_name: 'openid-client', redirect_uris: [REDIRECT_URI], scope: SCOPE },
      openid.None(),
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    )
    assert.equal(config.serverMetadata().supportsPKCE(), true)
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const authorizeUrl = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: SCOPE,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state,
    })
    const callback = await host.consent(authorizeUrl)
    const granted = await openid.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState: state })
    const me = (token: string): Promise<Response> =>
      openid.fetchProtectedResource(config, token, new URL('/v1/me', baseUrl), 'GET')
    assert.equal((await me(granted.access_token)).status, 200)
    const refreshed = await openid.refreshTokenGrant(config, String(granted.refresh_token))
    assert.equal((await me(refreshed.access_token)).status, 200)
    await openid.tokenRevocation(config, String(refreshed.refresh_token))
    await assert.rejects(me(refreshed.access_token), openid.WWWAuthenticateChallengeError)
    await assert.rejects(openid.refreshTokenGrant(config, String(refreshed.refresh_token)), { error: 'invalid_grant' })
  })

  for (const path of ['', '/mcp'] as const) {
    test(`auth() of @modelcontextprotocol/sdk, for ${path === '' ? 'the host itself' : 'a server at /mcp'}`, async () => {
      const { authUrl, baseUrl } = host
      const serverUrl = new URL(path, baseUrl)
      const provider = new MemoryProvider()
      assert.equal(await auth(provider, { serverUrl }), 'REDIRECT')
      const callback = await host.consent(provider.takeRedirect())
      assert.equal(callback.searchParams.get('state'), provider.state())
      const authorizationCode = String(callback.searchParams.get('code'))
      assert.equal(await auth(provider, { serverUrl, authorizationCode }), 'AUTHORIZED')
      const first = provider.tokensNow()
      assert.equal(await host.statusOfMe(first.access_token), 200)

      assert.equal(await auth(provider, { serverUrl }), 'AUTHORIZED')
      const second = provider.tokensNow()
      assert.notEqual(second.refresh_token, first.refresh_token)
      assert.equal(await host.statusOfMe(second.access_token), 200)

      // The SDK has no function for revocation.
      const body = new URLSearchParams({ token: second.access_token, client_id: provider.clientId() })
      const revoked = await fetchOnce(new URL('/oauth/revoke', authUrl), { method: 'POST', body })
      assert.equal(revoked.status, 200)
      assert.equal(await host.statusOfMe(second.access_token), 401)
      // The server rejects the refresh with invalid_grant. The client then deletes its tokens and asks the person to
      // authorize it again.
      assert.equal(await auth(provider, { serverUrl }), 'REDIRECT')
    })
  }
})
