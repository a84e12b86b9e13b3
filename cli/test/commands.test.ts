import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  answerError,
  KEY,
  ME,
  paymentOf,
  RECIPIENT,
  startFakeService,
  WALLET,
  type FakeService,
} from './support/fake-service.ts'
import { errorOf, openHome, parseOne, type CliResult, type Home } from './support/run-cli.ts'

const CONFIRMED = paymentOf({ status: 'confirmed', confirmed_at: '2026-11-23T01:00:02.000Z', tx_hash: '0x77' })
const AGENT = {
  id: 'robot',
  status: 'active',
  mode: 'test',
  created_at: '2026-11-23T01:00:00.000Z',
  active_signers: 1,
  pending_signers: 0,
  account_slug: 'demo',
  wallets: [],
}
const WALLET_BODY = {
  address: WALLET,
  name: 'Main\u001b[2J',
  mode: 'test',
  balance_usdc: '50',
  grants: [
    {
      grant_id: 'grt_1',
      agent_id: 'robot',
      state: 'active',
      max_per_tx_usdc: '10',
      daily_cap_usdc: '100',
      spent_24h_usdc: '1',
      remaining_24h_usdc: '99',
      recipients: [],
      expires_at: null,
      x402: true,
    },
  ],
}
const ENTRY = {
  ...CONFIRMED,
  type: 'payment',
  direction: 'out',
  wallet: WALLET,
}
const REFUSAL = {
  type: 'forbidden',
  code: 'amount_too_large',
  message: "The amount is over the grant's per-payment limit.",
  details: { max_per_tx_usdc: '10', requested: '11' },
}

/** The commands as a program calls them (JSON, exit codes) and as a person sees them. */
describe('the commands', () => {
  let service: FakeService
  let home: Home
  before(async () => {
    service = await startFakeService()
    home = await openHome()
  })
  after(async () => {
    await home.close()
    await service.close()
  })
  const run = (...args: string[]): Promise<CliResult> =>
    home.run(args, { env: { BURSAR_URL: service.url, BURSAR_API_KEY: KEY } })
  const route = (path: string, body: object): unknown => service.routes.set(path, () => body)

  describe('that read', () => {
    before(() => {
      route('GET /v1/agents', { agents: [AGENT] })
      route('GET /v1/agents/robot', { agent: AGENT })
      route('GET /v1/wallets', { wallets: [WALLET_BODY], has_more: false })
      route(`GET /v1/wallets/${WALLET}`, { wallet: WALLET_BODY })
      route('GET /v1/payments/pay_1', { payment: CONFIRMED })
      route('GET /v1/ledger', { entries: [ENTRY, { ...ENTRY, id: 'pay_0' }], has_more: false })
      route('POST /v1/payments/preview', {
        preview: {
          ...{ allowed: true, existing_payment: null, grant_id: 'grt_1', expires_at: null, max_per_tx_usdc: '10' },
          ...{ daily_cap_usdc: '100', spent_24h_usdc: '1', remaining_24h_usdc: '99', remaining_24h_after_usdc: '97' },
          ...{ balance_usdc: '50', pending_usdc: '0', available_usdc: '50' },
        },
      })
    })
    const cases: readonly {
      readonly args: readonly string[]
      readonly body: object
      readonly next: unknown
      readonly human: RegExp
    }[] = [
      { args: ['me'], body: { me: ME }, next: ['bursar', 'wallets'], human: /Workspace +Demo\n.*\n[^]*robot +10 +100/ },
      {
        args: ['agents'],
        body: { agents: [AGENT] },
        next: ['bursar', 'wallets'],
        human: /AGENT +STATUS[^]*robot +active +1/,
      },
      { args: ['agents', 'robot'], body: { agent: AGENT }, next: ['bursar', 'wallets'], human: /robot +active +1/ },
      {
        args: ['wallets'],
        body: { wallets: [WALLET_BODY] },
        next: null,
        human: /Main\ufffd\[2J {2}50 USDC \(test\)\n[^]*robot +active +10 +99 +100 +yes +any +never/,
      },
      { args: ['wallets', WALLET], body: { wallet: WALLET_BODY }, next: null, human: /robot +active/ },
      {
        args: ['preview', RECIPIENT, '2'],
        body: {},
        next: ['bursar', 'pay', RECIPIENT, '2', '--agent', 'robot', '--wallet', WALLET],
        human: /Allowed\.\nLeft of the 24-hour limit +99 USDC, afterwards 97 USDC/,
      },
      {
        args: ['payments', 'get', 'pay_1'],
        body: { payment: CONFIRMED },
        next: null,
        human: /Amount +1\.25 USDC\nStatus +confirmed/,
      },
      {
        args: ['ledger', '--limit', '1'],
        body: { entries: [ENTRY], has_more: true },
        next: ['bursar', 'ledger', '--limit', '1', '--starting-after', 'pay_1'],
        human: /2026-11-23 01:00:00 +payment +-1\.25 +confirmed/,
      },
      { args: ['ledger'], body: { has_more: false }, next: null, human: /pay_0/ },
      {
        args: ['doctor'],
        body: { ok: true },
        next: null,
        human: /✔ The service is ready\.[^]*✔ robot on 0x7b.*99 USDC left/,
      },
    ]
    for (const { args, body, next, human } of cases) {
      test(`${args.join(' ')} answers in JSON, and in words for people`, async () => {
        const json = await run(...args)
        assert.deepEqual([json.code, json.stderr], [0, ''], json.stderr)
        const answer = parseOne(json.stdout)
        assert.deepEqual(answer['next'], next)
        for (const [name, value] of Object.entries(body)) assert.deepEqual(answer[name], value, name)
        const words = await run(...args, '--no-json')
        assert.equal(words.code, 0)
        assert.match(words.stdout, human)
        assert.ok(!words.stdout.includes('\u001b'), 'neither colours nor escape sequences of others')
      })
    }

    test('the options of the ledger reach the service', async () => {
      const since = '2026-11-01T00:00:00.000Z'
      await run('ledger', '--type', 'payment,deposit', '--agent', 'robot', '--wallet', WALLET, '--since', since)
      const { searchParams } = new URL(service.seen.at(-1)?.path ?? '', service.url)
      assert.deepEqual(Object.fromEntries(searchParams), {
        ...{ limit: '21', type: 'payment,deposit', agent_id: 'robot', wallet: WALLET, created_after: since },
      })
    })

    test('people get colours if they want them', async () => {
      const { stdout } = await home.run(['agents', '--no-json'], {
        env: { BURSAR_URL: service.url, BURSAR_API_KEY: KEY, FORCE_COLOR: '1' },
      })
      assert.ok(stdout.includes('\u001b[32mactive'))
    })
  })

  describe('that pay', () => {
    let bodies: Record<string, unknown>[]
    beforeEach(() => {
      bodies = []
      service.routes.set('POST /v1/payments', ({ body }) => {
        const sent = JSON.parse(body) as Record<string, unknown>
        bodies.push(sent)
        return { payment: paymentOf({ ...sent, agent_id: sent['agent_id'] }) }
      })
    })

    test('pay sends the payment once, with the key that it was given', async () => {
      const result = await run('pay', RECIPIENT, '1.25', '--idempotency-key', 'k1', '--memo', '-m')
      assert.deepEqual([result.code, result.stderr], [0, ''])
      const fields = { agent_id: 'robot', wallet: WALLET, to: RECIPIENT, amount_usdc: '1.25' }
      assert.deepEqual(bodies, [{ ...fields, idempotency_key: 'k1', memo: '-m' }])
      const { payment, next, replayed } = parseOne(result.stdout)
      assert.equal((payment as { id: string }).id, 'pay_1')
      assert.deepEqual([next, replayed], [['bursar', 'payments', 'get', 'pay_1', '--wait'], false])
    })

    test('without a key, one is made and told before anything is sent', async () => {
      const result = await run('pay', RECIPIENT, '1.25', '--agent', 'robot', '--wallet', WALLET)
      const { sending, next } = parseOne(result.stderr) as { sending: { idempotency_key: string }; next: string[] }
      assert.equal(sending.idempotency_key, bodies[0]?.['idempotency_key'])
      const fields = ['--agent', 'robot', '--wallet', WALLET, '--idempotency-key', sending.idempotency_key]
      assert.deepEqual(next, ['bursar', 'pay', RECIPIENT, '1.25', ...fields])
    })

    test('--wait waits for the outcome, and a failed payment is a failure', async () => {
      route('GET /v1/payments/pay_1', { payment: CONFIRMED })
      const paid = await run('pay', RECIPIENT, '1.25', '--purchase-id', 'k1', '--wait', '--no-json')
      assert.equal(paid.code, 0)
      assert.match(paid.stdout, /Status +confirmed/)
      route('GET /v1/payments/pay_1', { payment: paymentOf({ status: 'failed', failure_code: 'reverted' }) })
      const failed = await run('pay', RECIPIENT, '1.25', '--purchase-id', 'k1', '--wait')
      assert.equal(failed.code, 1)
      assert.equal((parseOne(failed.stdout)['payment'] as { failure_code: string }).failure_code, 'reverted')
    })

    test('a payment that is still pending after the wait is exit code 6, with the payment', async () => {
      route('GET /v1/payments/pay_1', { payment: paymentOf() })
      const result = await run('pay', RECIPIENT, '1.25', '--idempotency-key', 'k1', '--wait', '1')
      assert.equal(result.code, 6)
      const { error, next, payment } = errorOf(result)
      assert.equal(error['code'], 'timeout')
      assert.match(String(error['hint']), /Do not pay again/)
      assert.deepEqual(next, ['bursar', 'payments', 'get', 'pay_1', '--wait'])
      assert.equal((payment as { id: string }).id, 'pay_1')
    })

    test('the evidence of a payment is written unchanged, also to a file', async () => {
      const text = '{ "format":"bursar-evidence/1",\n"z":"é" }'
      service.routes.set('GET /v1/payments/pay_1/evidence', (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(text)
      })
      const shown = await run('payments', 'evidence', 'pay_1')
      assert.deepEqual([shown.code, shown.stdout], [0, text])
      const file = join(home.folder, 'evidence.json')
      const stored = await run('payments', 'evidence', 'pay_1', '--output', file)
      assert.deepEqual([stored.code, parseOne(stored.stdout)], [0, { payment: 'pay_1', output: file, next: null }])
      assert.equal(await readFile(file, 'utf8'), text)
    })

    test('without evidence, the hint says why, and when to try again', async () => {
      const hintOf = async (code: string, details: object): Promise<unknown> => {
        const error = { type: 'conflict', message: 'None.', code, details }
        service.routes.set('GET /v1/payments/pay_1/evidence', (_request, response) => answerError(response, 409, error))
        const result = await run('payments', 'evidence', 'pay_1')
        assert.equal(result.code, 1)
        return errorOf(result).error['hint']
      }
      const waiting = { reason: 'signature_usable', retry_at: '2026-06-30T09:15:00.000Z' }
      assert.match(
        String(await hintOf('evidence_not_ready', waiting)),
        /^An owner signed only a few minutes ago\..* Try again after 2026-06-30T09:15:00\.000Z\.$/,
      )
      const pending = { reason: 'payment_pending', retry_at: null }
      assert.match(String(await hintOf('evidence_not_ready', pending)), /^The payment is still pending\..* failed\.$/)
      assert.match(String(await hintOf('evidence_unavailable', { reason: 'not_logged' })), /before the service had a/)
    })

    test('a refusal is exit code 4, and says what would be possible', async () => {
      service.routes.set('POST /v1/payments', (_request, response) => answerError(response, 403, REFUSAL))
      const result = await run('pay', RECIPIENT, '11', '--idempotency-key', 'k1')
      assert.deepEqual([result.code, result.stdout], [4, ''])
      const { error, next, outcome, idempotency_key: key } = errorOf(result)
      assert.deepEqual(
        [error['code'], error['details'], error['request_id']],
        ['amount_too_large', REFUSAL.details, 'req_01TEST'],
      )
      assert.deepEqual([next, outcome, key], [['bursar', 'wallets'], 'not_paid', 'k1'])
      const words = await run('pay', RECIPIENT, '11', '--idempotency-key', 'k1', '--no-json')
      assert.match(
        words.stderr,
        /^Error: The amount is over.*\nAt most for each payment 10, requested 11\.\nNext: bursar wallets\n/,
      )
    })

    test('an unknown outcome says so, and how to repeat safely', async () => {
      const details = { payment_id: 'pay_1' }
      service.routes.set('POST /v1/payments', (_request, response) => {
        response.setHeader('retry-after', '3600')
        answerError(response, 500, {
          type: 'internal',
          code: 'privy_call_failed',
          message: 'The call failed.',
          details,
        })
      })
      const result = await run('pay', RECIPIENT, '1', '--idempotency-key', 'k1')
      assert.equal(result.code, 1)
      const { error, next, outcome } = errorOf(result)
      assert.deepEqual([error['code'], outcome], ['privy_call_failed', 'unknown'])
      assert.match(String(error['hint']), /never pays twice/)
      assert.deepEqual((next as string[]).slice(-2), ['--idempotency-key', 'k1'])
    })

    test('a key of another payment is told, and nothing is paid', async () => {
      service.routes.set('POST /v1/payments', (_request, response) => {
        response.setHeader('idempotent-replayed', 'true')
        response.setHeader('idempotent-mismatch', 'amount_usdc')
        return { payment: paymentOf() }
      })
      const result = await run('pay', RECIPIENT, '2', '--idempotency-key', 'k1')
      assert.equal(result.code, 1)
      const { error, next } = errorOf(result)
      assert.equal(error['code'], 'idempotency_mismatch')
      assert.deepEqual(next, ['bursar', 'payments', 'get', 'pay_1'])
    })

    test('who pays is never guessed', async () => {
      const other = `0x${'1'.repeat(40)}`
      service.routes.set('GET /v1/me', () => ({
        ...ME,
        wallets: [...ME.wallets, { ...ME.wallets[0], address: other }],
      }))
      const many = await run('pay', RECIPIENT, '1')
      service.routes.set('GET /v1/me', () => ({ ...ME, wallets: [] }))
      const none = await run('pay', RECIPIENT, '1')
      service.routes.set('GET /v1/me', () => ME)
      assert.deepEqual([many.code, none.code], [2, 4])
      assert.deepEqual(errorOf(many).error['details'], [
        { agent_id: 'robot', wallet: WALLET },
        { agent_id: 'robot', wallet: other },
      ])
      assert.equal(errorOf(none).error['code'], 'no_wallet')
      assert.deepEqual(bodies, [])
    })

    test('a preview that is refused is exit code 4', async () => {
      route('POST /v1/payments/preview', { preview: { allowed: false, error: REFUSAL } })
      const json = await run('preview', RECIPIENT, '11')
      assert.deepEqual([json.code, json.stderr], [4, ''])
      assert.deepEqual(parseOne(json.stdout)['preview'], { allowed: false, error: REFUSAL })
      const words = await run('preview', RECIPIENT, '11', '--no-json')
      assert.match(words.stdout, /Not allowed: The amount is over[^]*max_per_tx_usdc +10/)
    })
  })
})
