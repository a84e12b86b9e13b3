import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, type Answer } from '../support/http-client.ts'
import { Browser } from './browser.ts'
import { openVisitor } from './person.ts'

const WINDOW_MS = 60_000
const HOUR_MS = 3_600_000
const CEREMONIES = 20
const SIGN_UPS = 10
const REQUESTS = 300

/** The dashboard's rate limits are separate from those of `/v1` (D33). */
describe('rate limits of the dashboard', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer()
  })
  afterEach(() => server.clock.setOffset(0))
  after(() => server.close())

  test('20 sign-ins or sign-ups a minute can be started from one address, with however many browsers', async () => {
    const browsers = [new Browser(server, '10.1.0.1'), new Browser(server, '10.1.0.1')]
    const begin: readonly (readonly [string, object])[] = [
      ['/console/sign-in/options', {}],
      ['/console/recovery', { code: 'wrong' }],
      ['/console/recovery', {}],
    ]
    for (let index = 0; index < CEREMONIES; index += 1) {
      const [path, body] = pick(begin, index)
      const answer = await pick(browsers, index).call('POST', path, body)
      assert.notEqual(answer.status, 429, String(index))
    }
    for (const [path, body] of begin) {
      for (const browser of browsers) expectTooMany(await browser.call('POST', path, body))
    }
    assert.equal((await new Browser(server, '10.1.0.2').call('POST', '/console/sign-in/options', {})).status, 200)
    assert.equal((await pick(browsers, 0).call('GET', '/console/session')).status, 200, 'the rest continues')
    server.clock.setOffset(WINDOW_MS)
    assert.equal((await pick(browsers, 0).call('POST', '/console/sign-in/options', {})).status, 200)
  })

  test('10 sign-ups an hour can be started from one address, and sign-ins are still possible', async () => {
    const browsers = [new Browser(server, '10.1.0.9'), new Browser(server, '10.1.0.9')]
    const begin = (index: number) => pick(browsers, index).call('POST', '/console/sign-up/options', { name: 'Ada' })
    for (let index = 0; index < SIGN_UPS; index += 1) assert.equal((await begin(index)).status, 200, String(index))
    for (const index of [0, 1]) expectTooMany(await begin(index), 3_600)
    server.clock.setOffset(WINDOW_MS)
    expectTooMany(await begin(0), 3_600)
    assert.equal((await pick(browsers, 0).call('POST', '/console/sign-in/options', {})).status, 200)
    server.clock.setOffset(HOUR_MS)
    assert.equal((await begin(0)).status, 200)
  })

  test('passkey requests of signed-in people count for their address too', async () => {
    const { browser } = await openVisitor(server)
    const paths = ['/console/verification/options', '/console/passkeys/options']
    for (let index = 0; index < CEREMONIES; index += 1) {
      assert.equal((await browser.call('POST', pick(paths, index), {})).status, 200)
    }
    for (const path of paths) expectTooMany(await browser.call('POST', path, {}))
  })

  test('of 60 started at once, exactly 20 are accepted', async () => {
    const browser = new Browser(server, '10.1.0.3')
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => browser.call('POST', '/console/sign-in/options', {})),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, CEREMONIES)
    assert.equal(answers.filter(({ status }) => status === 429).length, 60 - CEREMONIES)
  })

  test('a session has 300 requests a minute, of any kind and from any address', async () => {
    const { browser } = await openVisitor(server)
    const elsewhere = new Browser(server)
    elsewhere.cookies.set('session', String(browser.cookies.get('session')))
    const calls = [
      (from: Browser) => from.call('GET', '/console/session'),
      (from: Browser) => from.call('GET', '/console/passkeys'),
      (from: Browser) => from.call('POST', '/console/workspaces', {}),
      (from: Browser) => from.call('GET', '/console/workspaces/nobody/members'),
    ]
    const statuses: number[] = []
    for (let done = 0; done < REQUESTS; done += 20) {
      const answers = Array.from({ length: 20 }, (_, index) =>
        pick(calls, index)(index % 3 === 0 ? elsewhere : browser),
      )
      statuses.push(...(await Promise.all(answers)).map((answer) => answer.status))
    }
    assert.equal(statuses.filter((status) => status === 429).length, 0)
    for (const call of calls) expectTooMany(await call(browser))
    expectTooMany(await elsewhere.call('GET', '/console/session'))
    elsewhere.cookies.clear()
    assert.equal((await elsewhere.call('GET', '/console/session')).status, 200, 'signed out the address counts')
    const other = await openVisitor(server)
    assert.equal((await other.browser.call('GET', '/console/session')).status, 200)
    server.clock.setOffset(WINDOW_MS)
    assert.equal((await browser.call('GET', '/console/session')).status, 200)
  })

  test('an address without a session has exactly 300 requests a minute, even in a burst or with made-up cookies', async () => {
    const browsers = Array.from({ length: 8 }, (_, index) => {
      const browser = new Browser(server, '10.1.0.4')
      if (index % 2 === 0) browser.cookies.set('session', `svc_ses_${'x'.repeat(49 - index)}`)
      return browser
    })
    const answers = await Promise.all(
      Array.from({ length: REQUESTS + 40 }, (_, index) => pick(browsers, index).call('GET', '/console/session')),
    )
    assert.equal(answers.filter((answer) => answer.status === 200).length, REQUESTS)
    assert.equal(answers.filter((answer) => answer.status === 429).length, 40)
  })

  test('requests from other sites do not count against a session', async () => {
    const { browser } = await openVisitor(server)
    for (let index = 0; index < REQUESTS; index += 1) {
      const answer = await browser.call('POST', '/console/sign-out', {}, ['origin', 'https://evil.example'])
      assert.equal(answer.status, 403)
    }
    assert.equal((await browser.call('GET', '/console/session')).status, 200)
  })
})

/** Returns the item at the index. After the last item, starts again with the first one. */
function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length]
  assert.ok(item !== undefined)
  return item
}

function expectTooMany(answer: Answer, secondsMax = 60): void {
  const { message } = expectError(answer, { type: 'rate_limited', code: 'rate_limit_exceeded' })
  const seconds = Number(answer.headers['retry-after'])
  assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= secondsMax, String(seconds))
  assert.match(message, new RegExp(`\\b${seconds} seconds\\b`))
}
