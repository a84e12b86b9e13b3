import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { startFakeServer, type FakeServer } from '../../test/support/wires/fake-server.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { KEY } from './support/fake-service.ts'
import { errorOf, openHome, type Home } from './support/run-cli.ts'

const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'

/** What can respond at a wrong address: the answer, the code of the error, and what the message says. */
const ANSWERS: readonly (readonly [string, (response: ServerResponse) => void, string, RegExp])[] = [
  [
    'a redirect to another host',
    (response) => response.writeHead(308, { location: 'https://pay.example.com/x?secret=1' }).end(),
    'redirected',
    /redirects to https:\/\/pay\.example\.com\/x\./,
  ],
  [
    'the sign-in page of a proxy',
    (response) => response.writeHead(302, { location: '/login?next=%2Fmcp' }).end(),
    'redirected',
    /redirects to http:\/\/127\.0\.0\.1:\d+\/login\./,
  ],
  [
    'a web page',
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
    'not_a_service',
    /There is no Bursar service at/,
  ],
  [
    'another API',
    (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"world"}'),
    'not_a_service',
    /There is no Bursar service at/,
  ],
  [
    'a web page that says that there is none',
    (response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>'),
    'not_a_service',
    /There is no Bursar service at/,
  ],
]

describe('at the address of something else', () => {
  let server: FakeServer
  let home: Home
  let respond: (response: ServerResponse) => void
  before(async () => {
    server = await startFakeServer((_request, _body, response) => respond(response))
    home = await openHome()
  })
  after(async () => {
    await home.close()
    await server.close()
  })

  for (const [what, answer, code, message] of ANSWERS) {
    test(`${what} is named by login, mcp and doctor`, async () => {
      respond = answer
      const env = { BURSAR_URL: server.url, BURSAR_API_KEY: KEY }
      const login = await home.run(['login', server.url, '--no-browser'], { env: {} })
      assert.equal(login.code, 1)
      const { error } = errorOf(login)
      assert.equal(error['code'], code)
      assert.match(String(error['message']), message)
      assert.doesNotMatch(login.stdout + login.stderr, /secret=1/)

      const bridge = home.start(['mcp'], { env })
      bridge.process.stdin.write(INITIALIZE)
      const reply = await waitFor('an answer', () => bridge.lines()[0])
      bridge.process.stdin.end()
      await bridge.ended
      assert.match((reply['error'] as { message: string }).message, message)

      const doctor = await home.run(['doctor'], { env })
      assert.match(doctor.stdout, message)
    })
  }

  test('a service that does not work now is not called something else', async () => {
    respond = (response) => response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Down</h1>')
    const { error } = errorOf(await home.run(['login', server.url, '--no-browser'], { env: {} }))
    assert.equal(error['code'], 'unavailable')
  })
})
