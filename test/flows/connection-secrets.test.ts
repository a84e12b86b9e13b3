import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import { openState } from '../../sandbox/src/state/sandbox-state.ts'
import { createSoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { openHostOf, type AgentHost } from '../support/sandbox/agent-host.ts'
import { connect, exchangeCode, refreshTokens } from '../support/sandbox/oauth-client.ts'
import { openTracedFixture } from '../support/sandbox/sandbox-fixture.ts'

/** Stores cookies from `Set-Cookie` headers, like a browser. */
class CookieJar {
  readonly cookies = new Map<string, string>()

  take(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
  }

  header(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }
}

describe('secrets of people and connections', () => {
  let host: AgentHost
  before(async () => {
    const { sandbox, dataDir } = await openTracedFixture()
    host = openHostOf({ ...sandbox, dataDir }, sandbox.facts.workspace)
  })

  test('no log line contains a code, token, cookie, recovery code or invitation, whatever goes wrong', async () => {
    const connection = await connect(host)
    const { code, verifier, tokens, clientId, state } = connection
    const refreshed = await refreshTokens(host, clientId, tokens.refresh_token)
    await host.statusOfMe(refreshed.access_token)
    // Exchanges and refreshes with wrong secrets, with secrets that were already used, with secrets in the query, and
    // with secrets of the wrong kind.
    await exchangeCode(host, { ...connection, verifier: `${verifier}x` }, code)
    await exchangeCode(host, connection, code)
    await refreshTokens(host, clientId, tokens.refresh_token)
    await fetchOnce(`${host.authUrl}/oauth/token?code=${code}&refresh_token=${tokens.refresh_token}`, {
      method: 'POST',
    })
    await fetchOnce(`${host.baseUrl}/v1/me?access_token=${tokens.access_token}`)
    await fetchOnce(`${host.authUrl}/oauth/${refreshed.refresh_token}`)
    await fetchOnce(connection.url, { headers: { cookie: `session=${tokens.access_token}` } })

    const jar = new CookieJar()
    const seenCookies = new Set<string>()
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const response = await fetchOnce(`${host.authUrl}/console${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: host.authUrl, cookie: jar.header() },
        body: JSON.stringify(body),
      })
      jar.take(response)
      for (const value of jar.cookies.values()) seenCookies.add(value)
      return (await response.json()) as Record<string, unknown>
    }
    const { options } = (await post('/sign-up/options', { name: 'Secret Person' })) as {
      options: { challenge: string; user: { id: string } }
    }
    const passkey = createSoftwarePasskey({ rpId: 'localhost', origin: host.authUrl, userHandle: options.user.id })
    const response = passkey.register(Buffer.from(options.challenge, 'base64url'))
    const recoveryCodes = (await post('/sign-up', { response }))['recovery_codes'] as string[]
    const [recoveryCode = ''] = recoveryCodes
    await post('/recovery', { code: recoveryCode })
    await post('/recovery', { code: recoveryCode })
    const invitation = openState(host.dataDir).current.invitation ?? ''
    await fetchOnce(`${host.authUrl}/invite/${invitation}`)
    await post('/invitations/look-up', { token: invitation })
    await post('/invitations/accept', { token: invitation })
    await post('/invitations/accept', { token: `${invitation}x` })
    await post('/sign-out', {})

    const secrets: Record<string, string> = {
      code,
      verifier,
      state,
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token,
      newAccessToken: refreshed.access_token,
      newRefreshToken: refreshed.refresh_token,
      invitation,
      recoveryCode,
    }
    for (const [index, value] of [...seenCookies].entries()) secrets[`cookie ${index}`] = value
    assert.ok(seenCookies.size >= 3, 'a ceremony, and a session before and after the recovery')
    const folder = join(host.dataDir, 'logs')
    const files = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const)
    assert.match(new Map(files).get('server.log') ?? '', /"route":"\/oauth\/token"/)
    for (const [file, text] of files) {
      for (const [name, secret] of Object.entries(secrets)) {
        assert.ok(secret.length > 20, name)
        assert.ok(!text.includes(secret), `${name} stands in ${file}`)
      }
    }
  })
})
