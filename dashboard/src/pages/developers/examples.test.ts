import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import {
  buyResource,
  checkPrice,
  createPayment,
  getCaller,
  getPayment,
  listAgents,
  VERIFY_WEBHOOK,
} from './examples.ts'

const VALUES = {
  baseUrl: 'https://api.example.com',
  mode: 'test',
  agentId: 'shop-bot',
  wallet: '0x52908400098527886E0F7030069857D2E4169EE7',
  to: '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  buyer: { agentId: 'buyer-bot', wallet: '0x27b1fdb04752bbc536007a920d24acb045561c26' },
} as const

/** IDs may contain any character: quotes, backslashes, a dollar sign. */
const AWKWARD_IDS = ['shop-bot', "o'brien", 'say "hi"', 'a\\b', '$(rm -rf x) `y`', '${z}', 'naïve 🤖', "'''", "\\'"]

for (const agentId of AWKWARD_IDS) {
  test(`the curl example sends the agent ID ${agentId} unchanged`, () => {
    const command = createPayment({ ...VALUES, agentId }, 'curl')
    const printed = execFileSync('sh', ['-c', `curl() { for last; do :; done; printf %s "$last"; }; ${command}`], {
      env: { BURSAR_KEY: 'k' },
      encoding: 'utf8',
    })
    assert.deepEqual(JSON.parse(printed), {
      agent_id: agentId,
      wallet: VALUES.wallet,
      to: VALUES.to,
      amount_usdc: '0.01',
      memo: 'A first payment',
      idempotency_key: 'first-payment-1',
    })
  })

  test(`the TypeScript example sends the agent ID ${agentId} unchanged`, async () => {
    const { url, init } = await run(createPayment({ ...VALUES, agentId }, 'typescript'))
    assert.equal(url, 'https://api.example.com/v1/payments')
    assert.equal((JSON.parse(init.body ?? '') as { agent_id: string }).agent_id, agentId)
    assert.deepEqual(init.headers, { Authorization: 'Bearer k', 'Content-Type': 'application/json' })
  })
}

test('the examples of a purchase ask for the price of a resource, and then buy it once', async () => {
  const terms = { url: 'RESOURCE_URL', agent_id: 'buyer-bot', wallet: VALUES.buyer.wallet }
  const cases = [
    [checkPrice, '/v1/x402/check', terms],
    [buyResource, '/v1/x402/pay', { ...terms, max_amount_usdc: '0.10', idempotency_key: 'first-purchase-1' }],
  ] as const
  for (const [example, path, body] of cases) {
    const { url, init } = await run(example(VALUES, 'typescript'))
    assert.equal(url, `https://api.example.com${path}`)
    assert.deepEqual(JSON.parse(init.body ?? ''), body)
    assert.match(example(VALUES, 'curl'), new RegExp(`^curl -s https://api\\.example\\.com${path} `))
  }
})

test('the read examples use the key from the environment', async () => {
  for (const example of [getCaller, listAgents, getPayment]) {
    const { url, init } = await run(example(VALUES, 'typescript'))
    assert.match(url, /^https:\/\/api\.example\.com\/v1\/(me|agents|payments\/PAYMENT_ID)$/)
    assert.deepEqual(init.headers, { Authorization: 'Bearer k' })
    assert.match(
      example(VALUES, 'curl'),
      /^curl -s https:\/\/api\.example\.com\/v1\/.* "Authorization: Bearer \$BURSAR_KEY"$/,
    )
  }
})

test('the verifier accepts a signature with either of two secrets and rejects everything else', async () => {
  const { isFromBursar } = (await import(
    `data:text/javascript,${encodeURIComponent(asJavaScript(VERIFY_WEBHOOK))}`
  )) as {
    isFromBursar: (body: Buffer, signature: string, secret: string) => boolean
  }
  const body = Buffer.from('{"id":"evt_1"}')
  const now = Math.floor(Date.now() / 1_000)
  const sign = (secret: string, time: number, bytes = body) =>
    createHmac('sha256', secret).update(`${time}.`).update(bytes).digest('hex')
  const good = `t=${now},v1=${sign('new', now)},v1=${sign('old', now)}`
  assert.equal(isFromBursar(body, good, 'new'), true)
  assert.equal(isFromBursar(body, good, 'old'), true)
  assert.equal(isFromBursar(body, good, 'other'), false)
  assert.equal(isFromBursar(Buffer.from('{"id":"evt_2"}'), good, 'new'), false)
  assert.equal(isFromBursar(body, `t=${now - 301},v1=${sign('new', now - 301)}`, 'new'), false)
  for (const bad of ['', 't=', `t=${now}`, `t=${now},v1=`, `t=${now},v1`, `v1=${sign('new', now)}`, 'moon']) {
    assert.equal(isFromBursar(body, bad, 'new'), false, bad)
  }
})

interface Call {
  readonly url: string
  readonly init: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
}

/** Runs an example with our own `fetch`. Returns the arguments of the call. */
async function run(program: string): Promise<Call> {
  const calls: Call[] = []
  const fetch = (url: string, init: Call['init']) => {
    calls.push({ url, init })
    return Promise.resolve(new Response('{"payment":{}}'))
  }
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
    ...texts: string[]
  ) => (...values: unknown[]) => Promise<void>
  await new AsyncFunction('fetch', 'process', 'console', program)(
    fetch,
    { env: { BURSAR_KEY: 'k' } },
    { log: () => {} },
  )
  const call = calls[0]
  assert.ok(call !== undefined)
  return call
}

function asJavaScript(program: string): string {
  return program.replace('rawBody: Buffer, signature: string, secret: string): boolean', 'rawBody, signature, secret)')
}
