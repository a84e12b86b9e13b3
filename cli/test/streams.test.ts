import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { waitFor } from '../../test/support/wait-for.ts'
import { KEY, paymentOf, RECIPIENT, startFakeService, type FakeService } from './support/fake-service.ts'
import { errorOf, openHome, type Home } from './support/run-cli.ts'

/** What the program does with its streams, signals and exit code, as every command does it. */
describe('the program', () => {
  let service: FakeService
  let home: Home
  let env: Readonly<Record<string, string>>
  before(async () => {
    service = await startFakeService()
    home = await openHome()
    env = { BURSAR_URL: service.url, BURSAR_API_KEY: KEY }
    service.routes.set('GET /v1/ledger', () => ({
      entries: Array.from({ length: 20 }, (_, at) => ({
        ...paymentOf({ id: `pay_${at}` }),
        type: 'payment',
        direction: 'out',
      })),
      has_more: false,
    }))
    service.routes.set('GET /v1/events', () => ({ events: [], next_cursor: null }))
  })
  after(async () => {
    await home.close()
    await service.close()
  })

  const usage: readonly (readonly [string, readonly string[]])[] = [
    ['an unknown command', ['pai']],
    ['a missing argument', ['pay']],
    ['an unknown option', ['pay', RECIPIENT, '1', '--dry-run']],
    ['an amount that is none', ['pay', RECIPIENT, '1e3']],
    ['an address that is none', ['pay', 'alice', '1']],
    ['two names for one key', ['pay', RECIPIENT, '1', '--idempotency-key', 'a', '--purchase-id', 'a']],
    ['--pay without --max', ['fetch', 'https://example.com', '--pay']],
    ['--max without --pay', ['fetch', 'https://example.com', '--max', '1']],
    ['a wait that is too long', ['payments', 'get', 'pay_1', '--wait', '3601']],
    ['a receiver elsewhere', ['webhooks', 'listen', '--forward-to', 'https://example.com/hooks']],
    ['an address with a password', ['me', '--url', 'https://user:pass@example.com']],
    ['no command', []],
  ]
  for (const [what, args] of usage) {
    test(`${what} is exit code 2, and nothing is sent`, async () => {
      const count = service.seen.length
      const result = await home.run(args, { env })
      assert.deepEqual([result.code, result.stdout], [2, ''])
      assert.equal(service.seen.length, count)
      assert.doesNotMatch(result.stderr, /\bat .*\.js:\d+|pass@/)
      if (args.length > 0) assert.equal(errorOf(result).error['code'], 'usage')
    })
  }

  test('help and version are exit code 0, and need no service', async () => {
    for (const args of [
      ['--help'],
      ['help', 'pay'],
      ['pay', '--help'],
      ['--version'],
      ['completion', 'bash'],
      ['--help-json'],
    ]) {
      const result = await home.run(args)
      assert.deepEqual([result.code, result.stderr], [0, ''], args.join(' '))
      assert.ok(result.stdout.length > 4)
    }
  })

  test('a service that cannot be reached is exit code 1, without internals', async () => {
    const result = await home.run(['doctor'], { env: { BURSAR_URL: 'http://127.0.0.1:1', BURSAR_API_KEY: KEY } })
    assert.equal(result.code, 1)
    assert.match(result.stdout, /cannot be reached/)
  })

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    test(`${signal} ends a command that follows events, with ${code} and no error`, async () => {
      const count = service.seen.length
      const started = home.start(['events', 'tail', '--no-json'], { env, input: '' })
      await waitFor('the first look', () => service.seen.slice(count).some(({ path }) => path.startsWith('/v1/events')))
      started.process.kill(signal)
      const { code: exitCode, stderr } = await started.ended
      assert.equal(exitCode, code)
      const next = 'bursar events tail --since 2026-11-23T02:00:00.000Z'
      assert.equal(stderr, `Waiting for events. Press Ctrl-C to stop.\nContinue without a gap: ${next}\n`)
    })
  }

  test('Ctrl-C during a payment says that its outcome is unknown, and how to repeat it', async () => {
    const count = service.seen.length
    service.routes.set('POST /v1/payments', () => undefined)
    const started = home.start(['pay', RECIPIENT, '1', '--idempotency-key', 'k9'], { env, input: '' })
    await waitFor('the payment', () => service.seen.slice(count).some(({ path }) => path === '/v1/payments'))
    started.process.kill('SIGINT')
    const result = await started.ended
    const { outcome, next, idempotency_key: key } = errorOf(result)
    assert.deepEqual([result.code, outcome, key], [130, 'unknown', 'k9'])
    assert.deepEqual((next as string[]).slice(-2), ['--idempotency-key', 'k9'])
  })

  test('a reader that leaves early ends the program quietly', async () => {
    const started = home.start(['mcp'], { env })
    started.process.stdout.destroy()
    // The program answers this line, and nobody reads the answer.
    started.process.stdin.write('no message\n')
    const { code, stderr } = await started.ended
    assert.deepEqual([code, stderr], [141, ''])
  })

  test('without a terminal, nothing is asked: login prints the address and waits', async () => {
    service.routes.set('GET /.well-known/oauth-protected-resource', () => ({
      resource: service.url,
      authorization_servers: [service.url],
    }))
    service.routes.set('GET /.well-known/oauth-authorization-server', () => ({
      issuer: service.url,
      authorization_endpoint: `${service.url}/oauth/authorize`,
      token_endpoint: `${service.url}/oauth/token`,
      registration_endpoint: `${service.url}/oauth/register`,
      revocation_endpoint: `${service.url}/oauth/revoke`,
    }))
    service.routes.set('POST /oauth/register', () => ({ client_id: 'svc_client_1' }))
    const result = await home.run(['login', service.url, '--no-browser', '--timeout', '1', '--no-json'], { env: {} })
    assert.equal(result.code, 6)
    assert.match(result.stderr, /Open this address and approve:\n\n {2}http:\S+code_challenge_method=S256/)
    assert.doesNotMatch(result.stderr, /Paste/)
  })
})
