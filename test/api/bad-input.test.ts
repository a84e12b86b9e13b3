import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { expectError, type Call } from '../support/http-client.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'

const BODY_BYTES_MAX = 64 * 1_024

describe('bad input is rejected with its own errors, and changes nothing', () => {
  let given: TestService
  let seeded: Seed
  let key: string
  let rowsBefore: Readonly<Record<string, number>>
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context)
  })
  beforeEach(async () => {
    key = await given.issueKey(seeded)
    rowsBefore = await given.countRows()
  })
  afterEach(async () => {
    assert.deepEqual(await given.countRows(), rowsBefore)
    assert.equal(given.enclave.requests.length, 0)
  })
  after(() => given.close())

  const bodies: readonly (readonly [string, Call['body']])[] = [
    ['empty', ''],
    ['white space', '  \n'],
    ['an array', []],
    ['null', 'null'],
    ['a number', '7'],
    ['a string', '"id"'],
    ['true', 'true'],
    ['not JSON', '{id: 1}'],
    ['cut short', '{"id":"a"'],
    ['JSON followed by other text', '{"id":"a"} x'],
    ['NaN', '{"id":NaN}'],
    ['a comment', '{"id":"a"/**/}'],
    ['a prototype', '{"id":"a","__proto__":{"admin":true}}'],
    ['a constructor with a prototype', '{"id":"a","constructor":{"prototype":{}}}'],
    ['10,000 levels deep', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['10,000 levels deep in a member', `{"id":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`],
    ['with bytes that are not UTF-8', Buffer.from([...Buffer.from('{"id":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
    ['with an overlong encoding', Buffer.from([...Buffer.from('{"id":"'), 0xc0, 0xaf, ...Buffer.from('"}')])],
    ['UTF-16', Buffer.from('{"id":"a"}', 'utf16le')],
    ['without its id', {}],
    ['an id that is a number', { id: 7 }],
    ['an id that is null', { id: null }],
    ['an id that is an array', { id: ['a'] }],
    ['an id that is an object', { id: { toString: 'a' } }],
    ['an empty id', { id: '' }],
    ['an id of 65 characters', { id: 'a'.repeat(65) }],
    ['an id of 60,000 characters', { id: 'a'.repeat(60_000) }],
    ['an id of NUL', { id: 'a\u0000' }],
    ['an id of a lone surrogate', '{"id":"a\\ud800"}'],
    ['an id of white space', { id: ' ' }],
    ['an id that cannot be part of a URL', { id: '..' }],
  ]
  for (const [name, body] of bodies) {
    test(`a body that is ${name}: 400`, async () => {
      for (const path of ['/v1/agents', '/v1/payments']) {
        expectError(await given.call({ path, key, body }), { type: 'validation_failed' })
      }
    })
  }

  test('no body at all: 400', async () => {
    for (const path of ['/v1/agents', '/v1/payments']) {
      for (const headers of [[], ['content-type', 'application/json']]) {
        const call = { method: 'POST', path, key, headers: ['content-length', '0', ...headers] }
        expectError(await given.call(call), { type: 'validation_failed' })
      }
    }
  })

  test('another content type: 415', async () => {
    const types = [null, '', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']
    const others = ['application/jsonx', 'application/xml', 'text/json', '*/*', 'json', 'application/json, text/plain']
    for (const type of [...types, ...others]) {
      const answer = await given.call({ path: '/v1/agents', key, body: '{"id":"a"}', type })
      expectError(answer, { type: 'unsupported_media_type' })
    }
  })

  test('a body of 64 KiB is read; with one byte more it is 413, with or without its length in a header', async () => {
    const path = '/v1/agents'
    const exact = `{"id":7,"pad":"${'x'.repeat(BODY_BYTES_MAX - 17)}"}`
    assert.equal(exact.length, BODY_BYTES_MAX)
    expectError(await given.call({ path, key, body: exact }), { type: 'validation_failed' })
    expectError(await given.call({ path, key, body: `${exact} ` }), { type: 'payload_too_large' })
    expectError(await given.call({ path, key, body: 'x'.repeat(1_000_000) }), { type: 'payload_too_large' })
  })

  const payments: readonly (readonly [string, Record<string, unknown>, 'amount_invalid' | 'address_invalid' | null])[] =
    [
      ['an amount of zero', { amount_usdc: '0' }, 'amount_invalid'],
      ['a negative amount', { amount_usdc: '-1' }, 'amount_invalid'],
      ['seven decimal places', { amount_usdc: '1.0000001' }, 'amount_invalid'],
      ['an exponent', { amount_usdc: '1e3' }, 'amount_invalid'],
      ['an empty amount', { amount_usdc: '' }, 'amount_invalid'],
      ['an amount of NUL', { amount_usdc: '1\u0000' }, 'amount_invalid'],
      ['a huge amount', { amount_usdc: '9'.repeat(50_000) }, 'amount_invalid'],
      ['an amount that is a number', { amount_usdc: 1 }, null],
      ['an amount that is missing', { amount_usdc: undefined }, null],
      ['a recipient that is not an address', { to: 'nowhere' }, 'address_invalid'],
      ['a recipient with a wrong checksum', { to: '0x70997970c51812dc3A010C7d01b50e0d17dc79C8' }, 'address_invalid'],
      ['the zero address', { to: `0x${'0'.repeat(40)}` }, 'address_invalid'],
      ['the USDC contract', { to: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }, 'address_invalid'],
      ['a wallet that is not an address', { wallet: '0x12' }, 'address_invalid'],
      ['a wallet that is a number', { wallet: 12 }, null],
      ['an agent id of 65 characters', { agent_id: 'a'.repeat(65) }, null],
      ['an agent id of a lone surrogate', { agent_id: '\ud800' }, null],
      ['a memo of 201 characters', { memo: '🍜'.repeat(201) }, null],
      ['a memo of NUL', { memo: 'a\u0000b' }, null],
      ['a memo of a lone surrogate', { memo: 'a\udfffb' }, null],
      ['a memo that is an object', { memo: {} }, null],
      ['an empty idempotency key', { idempotency_key: '' }, null],
      ['an idempotency key of 65 characters', { idempotency_key: 'k'.repeat(65) }, null],
      ['an idempotency key of NUL', { idempotency_key: 'k\u0000' }, null],
      ['an idempotency key of a lone surrogate', { idempotency_key: '\udc00' }, null],
      ['an idempotency key that is a number', { idempotency_key: 7 }, null],
      ['an idempotency key that is null', { idempotency_key: null }, null],
    ]
  for (const [name, changes, code] of payments) {
    test(`a payment with ${name}: 400${code === null ? '' : ` ${code}`}`, async () => {
      const answer = await given.call({ path: '/v1/payments', key, body: paymentBody(seeded, changes) })
      const error = expectError(answer, { type: 'validation_failed', ...(code === null ? {} : { code }) })
      const [member] = Object.keys(changes)
      const details = error.details as { path: string; message: string }[]
      assert.equal(details[0]?.path, member)
    })
  }

  test('the error lists every issue of a body, and repeats nothing that was sent', async () => {
    const body = { agent_id: 1, wallet: 2, memo: 'canary'.repeat(50) }
    const { details, message } = expectError(await given.call({ path: '/v1/payments', key, body }), {
      type: 'validation_failed',
    })
    const paths = (details as { path: string }[]).map(({ path }) => path)
    assert.deepEqual(paths.toSorted(), ['agent_id', 'amount_usdc', 'memo', 'to', 'wallet'])
    assert.ok(!JSON.stringify([details, message]).includes('canary'))
  })
})
