import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, send } from '../support/http-client.ts'
import { answer } from '../support/context/people.ts'
import { Browser, readCookies } from './browser.ts'
import { beginSignIn, readSession, signUp, type WireSession } from './person.ts'

/** In production, the service runs behind a proxy that terminates HTTPS (D3, D47). */
describe('the dashboard in production', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer((config) => ({
      ...config,
      production: true,
      baseUrl: 'https://api.example.com',
      authUrl: 'https://app.example.com',
    }))
  })
  after(() => server.close())

  test('the cookies are bound to this exact host, and are sent over HTTPS only', async () => {
    const browser = new Browser(server)
    const { passkey } = await signUp(server, browser)
    assert.deepEqual([...browser.cookies.keys()], ['__Host-session'])
    const opened = await browser.call('POST', '/console/sign-in/options', {})
    const ceremony = readCookies(opened).get('__Host-ceremony')
    assert.deepEqual(ceremony?.attributes, ['httponly', 'max-age=300', 'path=/', 'samesite=strict', 'secure'])
    const { options } = JSON.parse(opened.text) as { options: { challenge: string; rpId: string } }
    assert.equal(options.rpId, 'app.example.com')
    const done = await browser.call('POST', '/console/sign-in', { response: answer(passkey, options) })
    const session = readCookies(done).get('__Host-session')?.attributes ?? []
    assert.deepEqual(
      session.filter((attribute) => !attribute.startsWith('max-age')),
      ['httponly', 'path=/', 'samesite=lax', 'secure'],
    )
    const out = await browser.call('POST', '/console/sign-out', {})
    assert.deepEqual(readCookies(out).get('__Host-session'), {
      value: '',
      attributes: [
        'expires=thu, 01 jan 1970 00:00:00 gmt',
        'httponly',
        'max-age=0',
        'path=/',
        'samesite=lax',
        'secure',
      ],
    })
  })

  test('the cookie names of development are ignored', async () => {
    const browser = new Browser(server)
    const { passkey } = await signUp(server, browser)
    const secret = String(browser.cookies.get('__Host-session'))
    browser.cookies.clear()
    browser.cookies.set('session', secret)
    assert.equal(await readSession(browser), null)
    const body = await beginSignIn(browser, passkey)
    const ceremony = String(browser.cookies.get('__Host-ceremony'))
    browser.cookies.clear()
    browser.cookies.set('ceremony', ceremony)
    await browser.refuse('POST', '/console/sign-in', { type: 'validation_failed', code: 'ceremony_expired' }, body)
    browser.cookies.set('__Host-ceremony', ceremony)
    const { session } = await browser.ask<{ session: WireSession }>('POST', '/console/sign-in', body)
    assert.equal(session.passkeys, 1)
  })

  test('over plain HTTP nothing is served, and no cookie is set or read', async () => {
    for (const path of ['/', '/assets/main-1a2b.js', '/console/session', '/console/sign-in/options']) {
      const headers = ['origin', server.config.authUrl, 'x-forwarded-proto', 'http']
      const answered = await send(server.url, {
        host: server.host,
        path,
        headers,
        ...(path.endsWith('options') ? { body: {} } : {}),
      })
      expectError(answered, { type: 'forbidden', code: 'https_required' })
      assert.equal(answered.headers['set-cookie'], undefined)
    }
  })

  test('a page of the REST host has another origin', async () => {
    const browser = new Browser(server)
    const headers = ['origin', server.config.baseUrl, 'sec-fetch-site', 'same-site']
    const answered = await browser.call('POST', '/console/sign-in/options', {}, headers)
    expectError(answered, { type: 'forbidden', code: 'cross_origin' })
  })
})
