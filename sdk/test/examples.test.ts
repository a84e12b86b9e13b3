import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type * as Package from '../src/main.ts'
import { fail, makePayment, PARAMS, startFakeApi, WALLET, CAP_EXCEEDED, type FakeApi } from './fake-api.ts'
import { readExamples } from './read-examples.ts'

const run = promisify(execFile)
const MAIN = new URL('../src/main.ts', import.meta.url)
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
const SERVICE = 'https://bursar.example.com'
const RESOURCE = 'https://api.example.com/report'
const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, exactOptionalPropertyTypes: true, allowImportingTsExtensions: true },
    ...{ module: 'nodenext', target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'], types: [] },
  },
}

/** What the examples use without declaring it. */
const CONTEXT = `
export interface Context {
  readonly bursar: Bursar
  readonly params: CreatePaymentParams
  readonly secret: string
  readonly log: (...values: readonly unknown[]) => void
  readonly store: {
    get(name: string): Promise<string | undefined>
    set(name: string, value: unknown): Promise<void>
  }
}
`
const VALUES = ['Bursar', 'BursarError', 'PaymentRefusedError', 'webhooks']

describe('the examples of the docstrings and of the README', () => {
  const examples = readExamples()
  const realFetch = globalThis.fetch
  let folder: string
  let api: FakeApi

  before(async () => {
    api = await startFakeApi()
    globalThis.fetch = (input, init) => routeFetch(realFetch, api.baseUrl, input, init)
    folder = await mkdtemp(join(tmpdir(), 'bursar-examples-'))
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    const path = JSON.stringify(fileURLToPath(MAIN))
    await writeFile(join(folder, 'context.ts'), `import type { Bursar, CreatePaymentParams } from ${path}\n${CONTEXT}`)
    for (const [index, { code }] of examples.entries()) {
      await writeFile(join(folder, `${index}.ts`), wrap(code, path))
    }
  })
  after(async () => {
    globalThis.fetch = realFetch
    await api.close()
    await rm(folder, { recursive: true })
  })

  test('every public member has one', () => {
    assert.ok(examples.length >= 20, `only ${examples.length} were found`)
  })

  test('have the types of the client', async () => {
    await run(process.execPath, [TSC, '-p', folder]).catch((error: unknown) =>
      assert.fail((error as { stdout: string }).stdout),
    )
  })

  for (const [index, { title, code }] of examples.entries()) {
    test(`run: ${title}`, async () => {
      api.reset()
      serve(api)
      if (code.includes('catch (error)')) api.script(fail(403, CAP_EXCEEDED))
      const logged = await runExample(index)
      assert.ok(logged.length > 0 || !/^ *(?:log|console\.log)\(/m.test(code), 'it logs nothing')
    })
  }

  async function runExample(index: number): Promise<unknown[][]> {
    const { Bursar } = (await import(MAIN.href)) as typeof Package
    const example = (await import(pathToFileURL(join(folder, `${index}.ts`)).href)) as {
      run(context: object): Promise<void>
    }
    const logged: unknown[][] = []
    const log = (...values: unknown[]): void => void logged.push(values)
    const bursar = new Bursar({ baseUrl: SERVICE, apiKey: 'svc_test_1' })
    const store = { get: async () => undefined, set: async () => undefined }
    await example.run({ bursar, params: PARAMS, secret: 'whsec_1', log, store })
    return logged
  }
})

/** Turns an example into a function. The imports of the example are replaced by an import of all `VALUES`. */
function wrap(code: string, path: string): string {
  const body = code.replaceAll(/^import .*$/gm, '').replaceAll('console.log', 'log')
  return `import { ${VALUES.join(', ')} } from ${path}
import type { Context } from './context.ts'
export { ${VALUES.join(', ')} }
export async function run({ bursar, params, secret, log, store }: Context): Promise<void> {
  void [bursar, params, secret, log, store]
  {
${body}
  }
}
`
}

/** Redirects requests for the service to the fake API. The response to a request for the resource asks for payment. */
async function routeFetch(
  realFetch: typeof fetch,
  baseUrl: string,
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const url = input instanceof Request ? input.url : String(input)
  if (url === RESOURCE) return new Response('{}', { status: 402, headers: { 'payment-required': 'e30=' } })
  assert.ok(url.startsWith(SERVICE), `an example calls ${url}`)
  return await realFetch(url.replace(SERVICE, baseUrl), init)
}

/** Sets what the service returns to the examples. */
function serve(api: FakeApi): void {
  const payment = makePayment({ id: 'pay_01JZ3Q8V6T9X2M4N5P7R8S9T0V', status: 'confirmed', tx_hash: '0x1' })
  const event = { id: 'evt_1', type: 'payment.confirmed', created_at: payment.created_at, data: { payment } }
  const failed = { ...event, type: 'payment.failed' }
  const wallet = { address: WALLET, name: 'Main', balance_usdc: '5', grants: [{ agent_id: 'shopper' }] }
  const agent = { id: 'shopper', status: 'active', wallets: [wallet] }
  const goods = { status: 200, headers: {}, body: 'goods', body_base64: null, truncated: false }
  const bodies: Readonly<Record<string, object>> = {
    'POST /v1/payments/preview': { preview: { allowed: false, error: { code: 'daily_cap_exceeded' } } },
    [`GET /v1/payments/${payment.id}`]: { payment, purchase: { host: 'api.example.com', delivery: 'delivered' } },
    [`GET /v1/payments/${payment.id}/evidence`]: { format: 'bursar-evidence/1' },
    'GET /v1/payments/pay_1': { payment },
    'GET /v1/me': {
      account_slug: 'a',
      agent_id: 'shopper',
      mode: 'test',
      scopes: [],
      wallets: [wallet],
      server_time: '2026-06-30T00:00:00.000Z',
    },
    'POST /v1/agents': { agent },
    'GET /v1/agents': { agents: [agent] },
    'GET /v1/agents/shopper': { agent },
    'GET /v1/wallets': { wallets: [wallet], has_more: false },
    [`GET /v1/wallets/${WALLET}`]: { wallet },
    'GET /v1/ledger': { entries: [payment], has_more: false },
    'GET /v1/events/evt_01JZ3Q8V6T9X2M4N5P7R8S9T0V': { event },
    'POST /v1/x402/check': { options: [], price_usdc: '0.01' },
  }
  for (const [operation, body] of Object.entries(bodies)) api.handle(operation, () => ({ status: 200, body }))
  api.handle('GET /v1/events', ({ query }) => {
    const events = query.get('type') === 'payment.failed' ? [failed] : [event]
    return { status: 200, body: { events, next_cursor: null } }
  })
  const purchase = (idempotencyKey: string | undefined) => makePayment({ ...payment, idempotency_key: idempotencyKey })
  api.handle('POST /v1/x402/pay', ({ body }) => {
    return { status: 200, body: { payment: purchase(body['idempotency_key']), response: goods, delivery: 'delivered' } }
  })
  api.handle('POST /v1/x402/sign', ({ body }) => {
    const header = { header_name: 'payment-signature', header_value: 'e30=' }
    return { status: 201, body: { payment: purchase(body['idempotency_key']), purchase: null, ...header } }
  })
}
