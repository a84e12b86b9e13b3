import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, readBody } from '../support/http-client.ts'
import { answer, makePasskey, toBytes } from '../support/context/people.ts'
import { readRows } from '../support/database/read-rows.ts'
import { Browser, readCookies } from './browser.ts'
import { beginSignIn, openVisitor, readSession, signIn, signUp, verify, type WireSession } from './person.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const EXPIRED = { type: 'validation_failed', code: 'ceremony_expired' } as const

/** People sign up and sign in with a passkey. When they sign out, the session ends (D46, D47). */
describe('signing up, in and out', () => {
  let server: ConsoleServer
  let browser: Browser
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(() => {
    browser = new Browser(server)
  })
  afterEach(() => server.clock.setOffset(0))
  after(() => server.close())

  test('a person who signs up is signed in, with a passkey and ten recovery codes', async () => {
    assert.equal(await readSession(browser), null)
    const { userId, recoveryCodes } = await signUp(server, browser, ' Ada Lovelace ')
    assert.equal(new Set(recoveryCodes).size, 10)
    for (const code of recoveryCodes) assert.match(code, /^([0-9A-Z]{5}-){3}[0-9A-Z]{5}$/)
    const session = await readSession(browser)
    assert.ok(session !== null)
    const { expires_at: expiresAt, ...rest } = session
    assert.deepEqual(rest, {
      user: { id: userId, name: 'Ada Lovelace' },
      workspaces: [],
      passkeys: 1,
      recovery_codes_left: 10,
      verified: true,
      signer_url: 'http://signer.localhost:4101',
    })
    assert.match(userId, /^usr_/)
    assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 7 * 24 * HOUR_MS) < MINUTE_MS)
    server.clock.setOffset(10 * MINUTE_MS)
    assert.equal((await readSession(browser))?.verified, false)
  })

  test('a passkey alone is enough to sign in, and shows who the person is', async () => {
    const [ada, bob] = [await signUp(server, new Browser(server)), await signUp(server, new Browser(server), 'Bob')]
    assert.equal((await signIn(browser, bob.passkey)).user.name, 'Bob')
    assert.equal((await readSession(browser))?.user.id, bob.userId)
    assert.equal((await signIn(browser, ada.passkey)).user.id, ada.userId)
  })

  test('signing out ends the session on the server, even for somebody who still has the cookie', async () => {
    const { browser: mine } = await openVisitor(server)
    const stolen = new Browser(server)
    stolen.cookies.set('session', String(mine.cookies.get('session')))
    assert.notEqual(await readSession(stolen), null)
    const signedOut = await mine.call('POST', '/console/sign-out', {})
    assert.deepEqual(readBody(signedOut, 200), {})
    assert.deepEqual(readCookies(signedOut).get('session'), {
      value: '',
      attributes: ['expires=thu, 01 jan 1970 00:00:00 gmt', 'httponly', 'max-age=0', 'path=/', 'samesite=lax'],
    })
    assert.equal(await readSession(stolen), null)
    await stolen.refuse('GET', '/console/passkeys', { type: 'unauthenticated' })
    assert.deepEqual(await mine.ask('POST', '/console/sign-out', {}), {}, 'nobody may sign out too')
  })

  test('signing out elsewhere ends all other sessions of the person, and no session of others', async () => {
    const { browser: mine, passkey } = await openVisitor(server)
    const { browser: foreign } = await openVisitor(server)
    const [phone, tablet] = [new Browser(server), new Browser(server)]
    for (const other of [phone, tablet]) await signIn(other, passkey)
    assert.deepEqual(await mine.ask('POST', '/console/sign-out-elsewhere', {}), { ended: 2 })
    assert.deepEqual([await readSession(phone), await readSession(tablet)], [null, null])
    assert.ok((await readSession(mine)) !== null && (await readSession(foreign)) !== null)
    assert.deepEqual(await mine.ask('POST', '/console/sign-out-elsewhere', {}), { ended: 0 })
    await browser.refuse('POST', '/console/sign-out-elsewhere', { type: 'unauthenticated' }, {})
  })

  test('a session from before the sign-in is not valid after it', async () => {
    const { browser: mine, passkey } = await openVisitor(server)
    const fixed = new Browser(server)
    const planted = String(mine.cookies.get('session'))
    fixed.cookies.set('session', planted)
    await signIn(mine, passkey)
    assert.notEqual(mine.cookies.get('session'), planted)
    assert.equal(await readSession(fixed), null)
    assert.notEqual(await readSession(mine), null)
  })

  test('no value that a browser had before becomes a session', async () => {
    const { passkey } = await openVisitor(server)
    for (const planted of ['planted', '', 'svc_ses_', '%00', 'a%', 'svc_ses_'.padEnd(57, 'a'), 'x'.repeat(4_000)]) {
      const fixed = new Browser(server)
      fixed.cookies.set('session', planted)
      assert.equal(await readSession(fixed), null, planted)
      await fixed.refuse('GET', '/console/passkeys', { type: 'unauthenticated' })
    }
    browser.cookies.set('session', 'planted')
    await signIn(browser, passkey)
    assert.match(String(browser.cookies.get('session')), /^svc_ses_\w{49}$/)
  })

  test('a session ends after 12 hours without a request, and after 7 days at the latest', async () => {
    const { browser: idle } = await openVisitor(server)
    server.clock.setOffset(12 * HOUR_MS - 1_000)
    assert.notEqual(await readSession(idle), null)
    server.clock.setOffset(24 * HOUR_MS)
    assert.equal(await readSession(idle), null)
    const { browser: busy } = await openVisitor(server)
    for (let hours = 24; hours < 24 + 7 * 24; hours += 11) {
      server.clock.setOffset(hours * HOUR_MS)
      assert.notEqual(await readSession(busy), null, `after ${hours} hours`)
    }
    server.clock.setOffset((24 + 7 * 24) * HOUR_MS + MINUTE_MS)
    assert.equal(await readSession(busy), null)
  })

  test('the cookies are HttpOnly, are valid for the whole host, and are not sent from other sites', async () => {
    const { passkey } = await openVisitor(server)
    const opened = await browser.call('POST', '/console/sign-in/options', {})
    const ceremony = readCookies(opened).get('ceremony')
    assert.deepEqual(ceremony?.attributes, ['httponly', 'max-age=300', 'path=/', 'samesite=strict'])
    const { options } = JSON.parse(opened.text) as { options: { challenge: string } }
    const done = await browser.call('POST', '/console/sign-in', { response: answer(passkey, options) })
    const cookies = readCookies(done)
    assert.deepEqual([...cookies.keys()].toSorted(), ['ceremony', 'session'])
    assert.equal(cookies.get('ceremony')?.value, '', 'a ceremony is over with its answer')
    const attributes = cookies.get('session')?.attributes ?? []
    assert.deepEqual(
      attributes.filter((attribute) => !attribute.startsWith('max-age')),
      ['httponly', 'path=/', 'samesite=lax'],
    )
    const seconds = Number(attributes.find((attribute) => attribute.startsWith('max-age'))?.slice(8))
    assert.ok(seconds > 7 * 24 * 3600 - 60 && seconds <= 7 * 24 * 3600, String(seconds))
    assert.ok(!done.text.includes(String(cookies.get('session')?.value)), 'the secret is in the cookie alone')
  })

  test('a challenge is valid once, for the browser that requested it, in time, and for its purpose', async () => {
    const { passkey, browser: other } = await openVisitor(server)
    const body = await beginSignIn(browser, passkey)
    const ceremony = String(browser.cookies.get('ceremony'))
    await new Browser(server).refuse('POST', '/console/sign-in', EXPIRED, body)
    other.cookies.set('ceremony', ceremony)
    await other.refuse('POST', '/console/verification', EXPIRED, body)
    browser.cookies.set('ceremony', ceremony)
    await browser.refuse('POST', '/console/sign-in', EXPIRED, body)

    const again = await beginSignIn(browser, passkey)
    const replayed = String(browser.cookies.get('ceremony'))
    await browser.ask('POST', '/console/sign-in', again)
    browser.cookies.set('ceremony', replayed)
    await browser.refuse('POST', '/console/sign-in', EXPIRED, again)

    const late = await beginSignIn(browser, passkey)
    server.clock.setOffset(5 * MINUTE_MS)
    await browser.refuse('POST', '/console/sign-in', EXPIRED, late)
    for (const junk of ['junk', 'svc_cer_x', '', '%zz', 'x'.repeat(5_000)]) {
      browser.cookies.set('ceremony', junk)
      await browser.refuse('POST', '/console/sign-in', EXPIRED, late)
    }
  })

  test('a request that is rejected because of its body does not use up the challenge', async () => {
    const { passkey } = await openVisitor(server)
    const body = await beginSignIn(browser, passkey)
    await browser.refuse('POST', '/console/sign-in', { type: 'validation_failed' }, { response: {} })
    assert.notEqual(browser.cookies.get('ceremony'), undefined)
    await browser.ask('POST', '/console/sign-in', body)
  })

  test('an unknown passkey, and a response that another passkey signed, sign nobody in', async () => {
    const { passkey } = await openVisitor(server)
    const stranger = makePasskey(server.context, Buffer.alloc(32, 7).toString('base64url'))
    const unknown = await beginSignIn(browser, stranger)
    await browser.refuse('POST', '/console/sign-in', { type: 'unauthenticated', code: 'passkey_unknown' }, unknown)
    const { options } = await browser.ask<{ options: object }>('POST', '/console/sign-in/options', {})
    assert.deepEqual(
      Object.keys(options).filter((member) => member === 'allowCredentials'),
      [],
      'no name is asked for',
    )
    const other = { response: answer(passkey, { challenge: Buffer.alloc(32, 1).toString('base64url') }) }
    await browser.refuse('POST', '/console/sign-in', { type: 'unauthenticated', code: 'passkey_invalid' }, other)
    assert.equal(await readSession(browser), null)
  })

  test('a recovery code signs in once, and then a passkey can be added', async () => {
    const { recoveryCodes, userId } = await openVisitor(server)
    const code = String(recoveryCodes[0])
    const { session } = await browser.ask<{ session: WireSession }>('POST', '/console/recovery', {
      code: code.toLowerCase().replaceAll('-', ' '),
    })
    assert.deepEqual([session.user.id, session.recovery_codes_left, session.verified], [userId, 9, true])
    const invalid = { type: 'unauthenticated', code: 'recovery_code_invalid' } as const
    for (const used of [code, 'AAAAA-AAAAA-AAAAA-AAAAA', 'x', '\u0000', '\ud800'.toWellFormed()]) {
      await new Browser(server).refuse('POST', '/console/recovery', invalid, { code: used })
    }
    const { options } = await browser.ask<{ options: { challenge: string; user: { id: string } } }>(
      'POST',
      '/console/passkeys/options',
      {},
    )
    const fresh = makePasskey(server.context, options.user.id)
    const { passkey } = await browser.ask<{ passkey: { id: string; name: string } }>(
      'POST',
      '/console/passkeys',
      { response: fresh.register(toBytes(options.challenge)), name: 'New phone' },
      201,
    )
    assert.deepEqual([passkey.id, passkey.name], [fresh.credentialId, 'New phone'])
    assert.equal((await signIn(new Browser(server), fresh)).user.id, userId)
  })

  test('for ten minutes after a proof by passkey, actions that require one are allowed', async () => {
    const { browser: mine, passkey } = await openVisitor(server)
    server.clock.setOffset(11 * MINUTE_MS)
    const required = { type: 'forbidden', code: 'verification_required' } as const
    await mine.refuse('POST', '/console/recovery-codes', required, {})
    await mine.refuse('POST', '/console/passkeys/options', required, {})
    await mine.refuse('DELETE', `/console/passkeys/${passkey.credentialId}`, required)
    const before = new Browser(server)
    before.cookies.set('session', String(mine.cookies.get('session')))
    const session = await verify(mine, passkey)
    assert.equal(session.verified, true)
    assert.equal(await readSession(before), null, 'the secret from before does not rise with it')
    const { recovery_codes: codes } = await mine.ask<{ recovery_codes: string[] }>(
      'POST',
      '/console/recovery-codes',
      {},
      201,
    )
    assert.equal(new Set(codes).size, 10)
    server.clock.setOffset(21 * MINUTE_MS)
    await mine.refuse('POST', '/console/recovery-codes', required, {})
  })

  test("another person's passkey is not a proof", async () => {
    const [ada, bob] = [await openVisitor(server), await openVisitor(server)]
    const { options } = await ada.browser.ask<{ options: { challenge: string } }>(
      'POST',
      '/console/verification/options',
      {},
    )
    const invalid = { type: 'unauthenticated', code: 'passkey_invalid' } as const
    const body = { response: answer(bob.passkey, options) }
    await ada.browser.refuse('POST', '/console/verification', invalid, body)
  })

  test('passkeys are listed and can be removed, except the last one', async () => {
    const { browser: mine, passkey } = await openVisitor(server)
    const only = { type: 'conflict', code: 'last_passkey' } as const
    await mine.refuse('DELETE', `/console/passkeys/${passkey.credentialId}`, only)
    for (const id of ['nothing', '%00', 'a%2Fb', '%20', 'x'.repeat(700)]) {
      await mine.refuse('DELETE', `/console/passkeys/${id}`, { type: 'not_found' })
    }
    const { options } = await mine.ask<{ options: { challenge: string; user: { id: string } } }>(
      'POST',
      '/console/passkeys/options',
      {},
    )
    const second = makePasskey(server.context, options.user.id)
    const body = { response: second.register(toBytes(options.challenge)), name: 'Key' }
    await mine.ask('POST', '/console/passkeys', body, 201)
    const { passkeys } = await mine.ask<{ passkeys: Record<string, unknown>[] }>('GET', '/console/passkeys')
    assert.deepEqual(
      passkeys.map(({ id, name }) => [id, name]),
      [
        [passkey.credentialId, 'First passkey'],
        [second.credentialId, 'Key'],
      ],
    )
    for (const listed of passkeys) {
      assert.deepEqual(Object.keys(listed), ['id', 'name', 'created_at', 'last_used_at'])
      assert.equal(new Date(String(listed['created_at'])).toISOString(), listed['created_at'])
    }
    assert.deepEqual(await mine.ask('DELETE', `/console/passkeys/${passkey.credentialId}`), {})
    await mine.refuse('DELETE', `/console/passkeys/${second.credentialId}`, only)
  })

  test("the browser's name is stored with a sign-in, shortened if necessary", async () => {
    const { passkey, userId } = await openVisitor(server)
    const body = await beginSignIn(browser, passkey)
    const headers = ['origin', server.config.authUrl, 'user-agent', `Mozilla/5.0 ${'é'.repeat(500)}`]
    readBody(await browser.call('POST', '/console/sign-in', body, headers), 200)
    const rows = await readRows(server.context.db, `select device from sessions where user_id = '${userId}'`)
    const devices = rows.map((row) => String(row['device']))
    assert.ok(devices.some((device) => device.startsWith('Mozilla/5.0') && device.length === 200))
  })

  test('a passkey that is already registered is 409, and its challenge is used up', async () => {
    const { browser: mine, passkey } = await openVisitor(server)
    const { options } = await mine.ask<{ options: { challenge: string } }>('POST', '/console/passkeys/options', {})
    const body = { response: passkey.register(toBytes(options.challenge)), name: 'Again' }
    expectError(await mine.call('POST', '/console/passkeys', body), { type: 'conflict', code: 'passkey_exists' })
    await mine.refuse('POST', '/console/passkeys', EXPIRED, body)
  })
})
