import assert from 'node:assert/strict'
import { chmod, stat, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { waitFor } from '../../test/support/wait-for.ts'
import { startFakeService, type FakeService } from './support/fake-service.ts'
import { errorOf, openHome, parseOne, type Home } from './support/run-cli.ts'
import { readSessionFile, sessionPath, signInAt } from './support/session-file.ts'

const MODE_BITS = 0o777
const EXPIRED = { expiresInMs: -1_000 }

/** How commands find the service and the credential, and keep the tokens of a sign-in. */
describe('sessions of the command line', () => {
  let service: FakeService
  let home: Home
  beforeEach(async () => {
    service = await startFakeService()
    home = await openHome()
  })
  afterEach(async () => {
    await home.close()
    await service.close()
  })
  const me = (env: Readonly<Record<string, string>> = {}) =>
    home.run(['me'], { env: { BURSAR_URL: service.url, ...env } })
  const refreshCalls = (): number => service.seen.filter(({ path }) => path === '/oauth/token').length

  test('without a credential, a command ends with exit code 3 and the command that signs in', async () => {
    const result = await me()
    assert.deepEqual([result.code, result.stdout], [3, ''])
    const { error, next } = errorOf(result)
    assert.deepEqual([error['code'], next], ['not_signed_in', ['bursar', 'login', service.url]])
    const nowhere = await home.run(['me'])
    assert.deepEqual([nowhere.code, errorOf(nowhere).next], [3, null])
  })

  test('a key from the environment is sent only to an address that the caller names too', async () => {
    await signInAt(home, service)
    await writeFile(`${home.folder}/bursar/config.json`, JSON.stringify({ default_url: service.url }))
    const result = await home.run(['me'], { env: { BURSAR_API_KEY: 'svc_test_of_another_service' } })
    assert.equal(result.code, 2)
    assert.match(String(errorOf(result).error['hint']), /BURSAR_URL/)
    assert.equal(service.seen.length, 0)
    assert.equal((await home.run(['me'])).code, 0, 'the sign-in itself goes to its own server')
  })

  test('a credential is never sent unencrypted to another machine', async () => {
    const result = await home.run(['me'], { env: { BURSAR_URL: 'http://192.0.2.1', BURSAR_API_KEY: 'svc_test_key' } })
    assert.deepEqual([result.code, errorOf(result).error['code']], [2, 'https_required'])
  })

  test('two different credentials in the environment are wrong usage', async () => {
    const result = await me({ BURSAR_API_KEY: 'a', BURSAR_TOKEN: 'b' })
    assert.equal(result.code, 2)
    assert.doesNotMatch(result.stderr, /"[ab]"/)
  })

  test('a rejected key is exit code 3, and is not shown', async () => {
    const result = await me({ BURSAR_API_KEY: 'svc_test_wrong' })
    assert.deepEqual([result.code, errorOf(result).error['code']], [3, 'unauthenticated'])
    assert.doesNotMatch(result.stderr + result.stdout, /svc_test_wrong/)
  })

  test('an expired token is refreshed first, and only the owner can read the new one', async () => {
    const { refresh_token: first } = await signInAt(home, service, EXPIRED)
    assert.equal((await me()).code, 0)
    const stored = await readSessionFile(home, service.url)
    assert.notEqual(stored.refreshToken, first)
    assert.ok(Date.parse(stored.expiresAt) > Date.now())
    assert.equal((await stat(sessionPath(home, service.url))).mode & MODE_BITS, 0o600)
    assert.equal(refreshCalls(), 1)
    assert.equal((await me()).code, 0)
    assert.equal(refreshCalls(), 1, 'the new token is used again')
  })

  test('a token that the service rejects early is refreshed, and the call is made again', async () => {
    const { access_token: token } = await signInAt(home, service)
    service.tokens.delete(token)
    assert.equal((await me()).code, 0)
    assert.equal(refreshCalls(), 1)
  })

  test('many processes refresh at once, and the refresh token is used once', async () => {
    await signInAt(home, service, EXPIRED)
    const release = service.holdRefreshes()
    const all = Array.from({ length: 4 }, () => me())
    await waitFor('the first refresh', () => refreshCalls() > 0)
    release()
    const codes = (await Promise.all(all)).map(({ code }) => code)
    assert.deepEqual(codes, [0, 0, 0, 0])
    assert.deepEqual([service.refreshes.count, service.refreshes.isEnded], [1, false])
  })

  test('Ctrl-C during a refresh, even twice, waits for its answer, so that the session is not lost', async () => {
    await signInAt(home, service, EXPIRED)
    const release = service.holdRefreshes()
    const started = home.start(['me'], { env: { BURSAR_URL: service.url }, input: '' })
    await waitFor('the refresh', () => refreshCalls() > 0)
    started.process.kill('SIGINT')
    started.process.kill('SIGTERM')
    // If the first process did not wait for its refresh, it would end while this command runs.
    assert.equal((await home.run(['--version'])).code, 0)
    assert.equal(started.process.exitCode, null)
    release()
    assert.ok([130, 143].includes(Number((await started.ended).code)), 'the code of one of the signals')
    assert.equal((await me()).code, 0)
    assert.deepEqual([service.refreshes.count, service.refreshes.isEnded], [1, false])
  })

  test('a session that has ended is exit code 3 at once, and its tokens are deleted', async () => {
    const { access_token: token } = await signInAt(home, service)
    service.tokens.delete(token)
    service.refreshes.isEnded = true
    const result = await me()
    assert.deepEqual([result.code, errorOf(result).error['code']], [3, 'session_ended'])
    assert.deepEqual(errorOf(result).next, ['bursar', 'login', service.url])
    await assert.rejects(stat(sessionPath(home, service.url)))
    assert.equal(refreshCalls(), 1, 'a refresh that was refused is not repeated')
  })

  test('an outage during a refresh ends nothing', async () => {
    await signInAt(home, service, EXPIRED)
    const working = service.routes.get('POST /oauth/token')
    assert.ok(working !== undefined)
    service.routes.set('POST /oauth/token', (_request, response) => {
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":"temporarily_unavailable"}')
    })
    assert.equal((await me()).code, 1)
    service.routes.set('POST /oauth/token', working)
    assert.equal((await me()).code, 0)
  })

  test('a file that others can read is closed to them, and the doctor says so', async () => {
    await signInAt(home, service)
    await chmod(sessionPath(home, service.url), 0o644)
    const { stdout, code } = await home.run(['doctor'], { env: { BURSAR_URL: service.url } })
    const { checks } = parseOne(stdout) as { checks: { name: string; status: string }[] }
    assert.equal(checks.find(({ name }) => name === 'file')?.status, 'warning')
    assert.equal(code, 1, 'the fake service has no wallets')
    await me()
    assert.equal((await stat(sessionPath(home, service.url))).mode & MODE_BITS, 0o600)
  })

  test('a damaged file is exit code 3, and does not prevent a new sign-in', async () => {
    await signInAt(home, service)
    await writeFile(sessionPath(home, service.url), '{')
    const result = await me()
    assert.deepEqual([result.code, errorOf(result).next], [3, ['bursar', 'login', service.url]])
  })

  test('the sign-ins at two servers do not disturb each other', async () => {
    const other = await startFakeService()
    try {
      await signInAt(home, service)
      await signInAt(home, other)
      service.routes.set('POST /oauth/revoke', () => ({}))
      const out = await home.run(['logout', '--url', service.url])
      assert.deepEqual(parseOne(out.stdout)['signed_out'], { url: service.url, revoked: true })
      assert.equal((await home.run(['me', '--url', other.url])).code, 0)
      assert.equal((await me()).code, 3)
    } finally {
      await other.close()
    }
  })

  test('who signs out while the service is down is signed out here', async () => {
    await signInAt(home, service)
    const result = await home.run(['logout', '--no-json'], { env: { BURSAR_URL: service.url } })
    assert.equal(result.code, 0)
    assert.match(result.stdout, /the connection still exists/)
    assert.equal((await me()).code, 3)
  })

  test('the token is never shown', async () => {
    const { access_token: token, refresh_token: refresh } = await signInAt(home, service)
    const outputs = await Promise.all(
      [['me'], ['doctor'], ['wallets'], ['me', '--no-json']].map((args) =>
        home.run(args, { env: { BURSAR_URL: service.url } }),
      ),
    )
    for (const { stdout, stderr } of outputs) {
      assert.ok(!(stdout + stderr).includes(token))
      assert.ok(!(stdout + stderr).includes(refresh))
    }
  })
})
