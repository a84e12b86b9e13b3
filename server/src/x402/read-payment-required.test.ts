import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseAddress, type Address } from '../values/address.ts'
import { microUsdc } from '../values/money.ts'
import { chooseOffer } from './choose-offer.ts'
import type { PaymentRequired, SkipReason } from './payment-required.ts'
import { PAYMENT_HEADER_BYTES_MAX } from './header-size.ts'
import { readPaymentRequired } from './read-payment-required.ts'

const CHAIN_ID = 84532
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e' as Address
const SELLER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const NOW = new Date('2026-11-22T22:34:27.700Z')
const NOTHING = Buffer.alloc(0)
const MONEY = { chainId: CHAIN_ID, usdc: USDC, now: NOW }
const SENT = { headerBytesMax: PAYMENT_HEADER_BYTES_MAX, body: Buffer.from('{"q":1}') }

/** Two headers of one answer of the package mppx 0.11.0, which asks in x402 version 2 and in MPP at once. */
const MPPX = {
  'payment-required':
    'eyJhY2NlcHRzIjpbeyJhbW91bnQiOiIxMDAwMCIsImFzc2V0IjoiMHgwMzZDYkQ1Mzg0MmM1NDI2NjM0ZTc5Mjk1NDFlQzIzMThmM2RDRjdlIiwiZXh0cmEiOnsiYXNzZXRUcmFuc2Zlck1ldGhvZCI6ImVpcDMwMDkiLCJuYW1lIjoiVVNEQyIsInZlcnNpb24iOiIyIn0sIm1heFRpbWVvdXRTZWNvbmRzIjozMDAsIm5ldHdvcmsiOiJlaXAxNTU6ODQ1MzIiLCJwYXlUbyI6IjB4NzA5OTc5NzBDNTE4MTJkYzNBMDEwQzdkMDFiNTBlMGQxN2RjNzlDOCIsInNjaGVtZSI6ImV4YWN0In1dLCJlcnJvciI6IlBheW1lbnQgaXMgcmVxdWlyZWQgKG9uZSBcImNhbGxcIikuIiwiZXh0ZW5zaW9ucyI6eyJtcHB4Ijp7ImluZm8iOnsibWV0aG9kIjoiR0VUIn0sInNjaGVtYSI6eyJhZGRpdGlvbmFsUHJvcGVydGllcyI6ZmFsc2UsInByb3BlcnRpZXMiOnsiX21wcHhfc2NvcGUiOnsidHlwZSI6InN0cmluZyJ9LCJkaWdlc3QiOnsidHlwZSI6InN0cmluZyJ9LCJtZXRob2QiOnsidHlwZSI6InN0cmluZyJ9LCJub25jZSI6eyJ0eXBlIjoic3RyaW5nIn0sIm9wYXF1ZSI6eyJ0eXBlIjoic3RyaW5nIn19LCJyZXF1aXJlZCI6WyJtZXRob2QiXSwidHlwZSI6Im9iamVjdCJ9fX0sInJlc291cmNlIjp7InVybCI6Imh0dHA6Ly8xMjcuMC4wLjEveCJ9LCJ4NDAyVmVyc2lvbiI6Mn0=',
  'www-authenticate':
    'Payment id="F9ytTxcPHp7VZA4j5FqvSANdXAL3CUOg51Pw2mU2GQY", realm="api.local", method="evm", intent="charge", request="eyJhbW91bnQiOiIxMDAwMCIsImN1cnJlbmN5IjoiMHgwMzZDYkQ1Mzg0MmM1NDI2NjM0ZTc5Mjk1NDFlQzIzMThmM2RDRjdlIiwibWV0aG9kRGV0YWlscyI6eyJjaGFpbklkIjo4NDUzMiwiY3JlZGVudGlhbFR5cGVzIjpbImF1dGhvcml6YXRpb24iXSwiZGVjaW1hbHMiOjZ9LCJyZWNpcGllbnQiOiIweDcwOTk3OTcwQzUxODEyZGMzQTAxMEM3ZDAxYjUwZTBkMTdkYzc5QzgifQ", description="one \\"call\\"", expires="2026-11-22T22:39:27.603Z"',
}

const ACCEPT = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '10000',
  asset: USDC,
  payTo: SELLER,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
}
const DIGEST = hash('sha256', SENT.body, 'base64')
const OTHER_DIGEST = hash('sha256', 'other', 'base64')
const CHALLENGE = {
  amount: '10000',
  currency: USDC,
  recipient: SELLER,
  methodDetails: { chainId: CHAIN_ID, credentialTypes: ['authorization'], decimals: 6 },
}

function read(headers: object, body: Buffer = NOTHING): PaymentRequired | null {
  return readPaymentRequired({ status: 402, headers: { ...headers }, body }, MONEY, SENT)
}

function readAccept(changes: object): PaymentRequired | null {
  return readRequired({ x402Version: 2, resource: { url: 'https://a.example' }, accepts: [{ ...ACCEPT, ...changes }] })
}

function readRequired(required: unknown): PaymentRequired | null {
  return read({ 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') })
}

function readChallenge(request: object, options?: Parameters<typeof writeChallenge>[1]) {
  return read({ 'www-authenticate': writeChallenge(request, options) })
}

function writeChallenge(request: object, { parameters = '', expires = '2026-11-22T22:36:00Z' } = {}): string {
  const text = Buffer.from(JSON.stringify(request)).toString('base64url')
  const expiry = expires === '' ? '' : `, expires="${expires}"`
  return `Payment id="one", realm="r", method="evm", intent="charge", request="${text}"${expiry}${parameters}`
}

const reasons = (required: PaymentRequired | null): SkipReason[] => required?.skipped.map(({ reason }) => reason) ?? []

describe('what a resource asks to be paid', () => {
  test('x402, version 2, as mppx writes it, is preferred at the same price, and is repeated to the seller unchanged', () => {
    const required = read(MPPX)
    assert.equal(required?.protocol, 'x402_v2')
    const [offer] = required.offers
    assert.equal(offer?.amountMicro, 10_000n)
    assert.equal(offer.payTo, SELLER)
    const { accepted } = JSON.parse(JSON.stringify(offer.echo)) as { readonly accepted: object }
    const extra = { assetTransferMethod: 'eip3009', name: 'USDC', version: '2' }
    assert.deepEqual(accepted, { ...ACCEPT, extra })
  })

  test('numbers of an offer are repeated as the seller wrote them', () => {
    const numbers = '"maxTimeoutSeconds":300.0,"extra":{"order":12345678901234567890,"factor":1.0,"small":1E-400}'
    const { maxTimeoutSeconds: _timeout, extra: _extra, ...rest } = ACCEPT
    const accept = `${JSON.stringify(rest).slice(0, -1)},${numbers}}`
    const text = `{"x402Version":2,"accepts":[{},${accept}],"resource":{"size":2.50},"extensions":{"a":{"info":0.10}}}`
    const required = read({ 'payment-required': Buffer.from(text).toString('base64') })
    const echo = `{"accepted":${accept},"resource":{"size":2.50},"extensions":{"a":{"info":0.10}}}`
    assert.equal(JSON.stringify(required?.offers[0]?.echo), echo)
    assert.equal(required?.offers[0]?.validForSeconds, 300)
  })

  test('a challenge of MPP, as mppx writes it, prescribes its nonce and its end', () => {
    const required = read({ 'www-authenticate': MPPX['www-authenticate'] })
    assert.equal(required?.protocol, 'mpp')
    assert.equal(required.description, 'one "call"')
    const [offer] = required.offers
    assert.equal(offer?.terms?.validBefore.toISOString(), '2026-11-22T22:39:27.000Z')
    assert.match(offer.terms.nonce, /^0x[0-9a-f]{64}$/)
    assert.equal((offer.echo as { readonly realm: string }).realm, 'api.local')
  })

  test('a challenge that we can pay is taken if no offer of x402 is for us', () => {
    const foreign = { x402Version: 2, accepts: [{ ...ACCEPT, network: 'eip155:1' }] }
    const header = Buffer.from(JSON.stringify(foreign)).toString('base64')
    const required = read({ ...MPPX, 'payment-required': header })
    assert.deepEqual(
      required?.offers.map(({ protocol }) => protocol),
      ['mpp'],
    )
    assert.deepEqual(reasons(required), ['network_unknown'])
  })

  test('the offers of all protocols of one answer are read, the cheapest first', () => {
    const prices = (required: PaymentRequired | null) =>
      required?.offers.map(({ protocol, amountMicro }) => [protocol, Number(amountMicro)])
    const ask = (v2: string, v1: string, mpp: string): PaymentRequired | null => {
      const { amount: _amount, ...rest } = ACCEPT
      const first = { x402Version: 1, accepts: [{ ...rest, network: 'base-sepolia', maxAmountRequired: v1 }] }
      const second = { x402Version: 2, accepts: [{ ...ACCEPT, amount: v2 }] }
      const headers = {
        'payment-required': Buffer.from(JSON.stringify(second)).toString('base64'),
        'www-authenticate': writeChallenge({ ...CHALLENGE, amount: mpp }),
      }
      return read(headers, Buffer.from(JSON.stringify(first)))
    }
    assert.deepEqual(prices(ask('20000', '5000', '10000')), [
      ['x402_v1', 5_000],
      ['mpp', 10_000],
      ['x402_v2', 20_000],
    ])
    assert.deepEqual(prices(ask('7', '7', '7')), [
      ['x402_v2', 7],
      ['x402_v1', 7],
      ['mpp', 7],
    ])
    const choice = chooseOffer(ask('20000', '5000', '10001') ?? { offers: [] }, { maxAmountMicro: microUsdc(10_000n) })
    assert.equal(choice.kind === 'chosen' ? choice.offer.protocol : choice.kind, 'x402_v1')
  })

  test('an offer whose payment header would be too long for the seller is skipped, and another way is found', () => {
    const long = { x402Version: 2, accepts: [ACCEPT], extensions: { story: 'x'.repeat(5_000) } }
    const header = Buffer.from(JSON.stringify(long)).toString('base64')
    const alone = read({ 'payment-required': header })
    assert.deepEqual([alone?.offers, reasons(alone)], [[], ['header_too_large']])
    assert.equal(alone?.skipped[0]?.network, 'eip155:84532')
    const beside = read({ 'payment-required': header, 'www-authenticate': MPPX['www-authenticate'] })
    assert.deepEqual(
      beside?.offers.map(({ protocol }) => protocol),
      ['mpp'],
    )
  })

  test('version 1 is in the body, with names of networks', () => {
    const { amount, ...rest } = ACCEPT
    const accept = { ...rest, maxAmountRequired: amount, network: 'base-sepolia', description: 'Rain' }
    const required = read({}, Buffer.from(JSON.stringify({ x402Version: 1, error: 'pay', accepts: [accept] })))
    assert.equal(required?.protocol, 'x402_v1')
    assert.equal(required.description, 'Rain')
    assert.deepEqual(required.offers[0]?.echo, { scheme: 'exact', network: 'base-sepolia' })
  })

  const accepts: readonly (readonly [string, object, SkipReason | null])[] = [
    ['nothing special', {}, null],
    ['the token in lower case', { asset: USDC.toLowerCase() }, null],
    ['no extra', { extra: undefined }, null],
    ['the money first', { extra: { paymentFlow: 'upfront' } }, null],
    ['30 days', { maxTimeoutSeconds: 2_592_000 }, null],
    ['20 s', { maxTimeoutSeconds: 20 }, null],
    ['less than 20 s', { maxTimeoutSeconds: 19 }, 'offer_too_short'],
    ['a time that is no number', { maxTimeoutSeconds: '300' }, 'malformed'],
    ['an endless time', { maxTimeoutSeconds: null }, 'malformed'],
    ['another scheme', { scheme: 'upto' }, 'scheme_unknown'],
    ['another chain', { network: 'eip155:8453' }, 'network_unknown'],
    ['a name of version 1', { network: 'base-sepolia' }, 'network_unknown'],
    ['another token', { asset: SELLER }, 'asset_unknown'],
    ['no token', { asset: undefined }, 'asset_unknown'],
    ['Permit2', { extra: { assetTransferMethod: 'permit2' } }, 'transfer_method_unknown'],
    ['an unknown flow', { extra: { paymentFlow: 'escrow' } }, 'flow_unknown'],
    ['Circle Gateway', { extra: { name: 'GatewayWalletBatched', version: '1' } }, 'domain_unknown'],
    ['a contract of its own', { extra: { ...ACCEPT.extra, verifyingContract: SELLER } }, 'domain_unknown'],
    ['the domain of the other chain', { extra: { name: 'USD Coin', version: '2' } }, 'domain_unknown'],
    ['a permit by another name', { extra: { ...ACCEPT.extra, primaryType: 'Permit' } }, 'transfer_method_unknown'],
    ['the type that we sign', { extra: { ...ACCEPT.extra, primaryType: 'TransferWithAuthorization' } }, null],
    ['a fee for somebody else', { extra: { ...ACCEPT.extra, feeRecipient: SELLER } }, 'extra_unknown'],
    ["a member of the seller's own", { extra: { ...ACCEPT.extra, order: 7 } }, null],
    ['extra that is a list', { extra: [] }, 'malformed'],
    ['the zero address', { payTo: `0x${'0'.repeat(40)}` }, 'recipient_invalid'],
    ['the token as payee', { payTo: USDC }, 'recipient_invalid'],
    ['a wrong checksum', { payTo: SELLER.replace('C', 'c') }, 'recipient_invalid'],
    ['no payee', { payTo: 7 }, 'recipient_invalid'],
    ['an amount that is a number', { amount: 10_000 }, 'amount_invalid'],
    ['a zero amount', { amount: '0' }, 'amount_invalid'],
    ['an amount with a sign', { amount: '-1' }, 'amount_invalid'],
    ['a fraction', { amount: '0.01' }, 'amount_invalid'],
    ['hexadecimal digits', { amount: '0x10' }, 'amount_invalid'],
    ['more than all USDC', { amount: '1'.repeat(16) }, 'amount_invalid'],
  ]
  for (const [title, changes, reason] of accepts) {
    test(`an offer with ${title}: ${reason ?? 'can be paid'}`, () => {
      const required = readAccept(changes)
      assert.deepEqual(reasons(required), reason === null ? [] : [reason])
      assert.equal(required?.offers.length, reason === null ? 1 : 0)
    })
  }

  const challenges: readonly (readonly [
    string,
    object,
    { parameters?: string; expires?: string },
    SkipReason | null,
  ])[] = [
    ['nothing special', {}, {}, null],
    ['300 s', {}, { expires: '2026-11-22T22:39:27Z' }, null],
    ['more than 300 s', {}, { expires: '2026-11-22T22:39:28Z' }, 'challenge_too_long'],
    ['less than 20 s', {}, { expires: '2026-11-22T22:34:47Z' }, 'offer_too_short'],
    ['an end in the past', {}, { expires: '2026-11-22T20:00:00Z' }, 'offer_too_short'],
    ['no end', {}, { expires: '' }, 'malformed'],
    ['an end without a time zone', {}, { expires: '2026-11-22T22:36:00' }, 'malformed'],
    ['a split', { methodDetails: { ...CHALLENGE.methodDetails, splits: [{ to: SELLER }] } }, {}, 'split_unsupported'],
    ['another chain', { methodDetails: { ...CHALLENGE.methodDetails, chainId: 1 } }, {}, 'network_unknown'],
    ['another currency', { currency: SELLER }, {}, 'asset_unknown'],
    ['18 decimals', { methodDetails: { ...CHALLENGE.methodDetails, decimals: 18 } }, {}, 'amount_invalid'],
    [
      'a permit',
      { methodDetails: { ...CHALLENGE.methodDetails, credentialTypes: ['permit2'] } },
      {},
      'transfer_method_unknown',
    ],
    ['no details', { methodDetails: null }, {}, 'malformed'],
    ['the header for payments', {}, { parameters: ', header="Payment-Authorization"' }, null],
    ['this header in other letters', {}, { parameters: ', HEADER=payment-authorization' }, null],
    ['the usual header, named', {}, { parameters: ', header="Authorization"' }, null],
    ['a header of the connection', {}, { parameters: ', header="Host"' }, 'header_unsupported'],
    ['no name of a header', {}, { parameters: ', header=""' }, 'header_unsupported'],
    ['an unknown parameter', {}, { parameters: ', surcharge="5"' }, 'parameter_unknown'],
    ["the seller's own data", {}, { parameters: ', opaque="e30", description="Rain"' }, null],
    ['an unknown member', { surcharge: '5' }, {}, 'parameter_unknown'],
    ['an unknown detail', { methodDetails: { ...CHALLENGE.methodDetails, escrow: true } }, {}, 'parameter_unknown'],
    [
      'its own order number',
      { externalId: '7', methodDetails: { ...CHALLENGE.methodDetails, permit2Address: SELLER } },
      {},
      null,
    ],
    ['the digest of the body', {}, { parameters: `, digest="sha-256=:${DIGEST}:"` }, null],
    ['this digest as mppx writes it', {}, { parameters: `, digest="sha-256=${DIGEST}"` }, null],
    ['the digest of another body', {}, { parameters: `, digest="sha-256=:${OTHER_DIGEST}:"` }, 'digest_mismatch'],
    ['a digest that we do not know', {}, { parameters: ', digest="md5=:AAAA:"' }, 'digest_mismatch'],
  ]
  for (const [title, changes, header, reason] of challenges) {
    test(`a challenge with ${title}: ${reason ?? 'can be paid'}`, () => {
      const required = readChallenge({ ...CHALLENGE, ...changes }, header)
      assert.deepEqual(reasons(required), reason === null ? [] : [reason])
    })
  }

  const extensions: readonly (readonly [string, object, SkipReason | null])[] = [
    ['that is only information', { bazaar: { info: { output: {} } } }, null],
    ['that asks for an id of the payment', { 'payment-identifier': { info: { required: true } } }, null],
    ['that it requires', { 'sign-in-with-x': { info: { required: true } } }, 'extension_required'],
    ['that it requires, without more information', { receipts: { required: true } }, 'extension_required'],
  ]
  for (const [title, declared, reason] of extensions) {
    test(`an offer with an extension ${title}: ${reason ?? 'can be paid'}`, () => {
      const required = readRequired({ x402Version: 2, accepts: [ACCEPT], extensions: declared })
      assert.deepEqual(reasons(required), reason === null ? [] : [reason])
    })
  }

  test('a digest is not checked if the agent sends the request itself', () => {
    const header = writeChallenge(CHALLENGE, { parameters: `, digest="sha-256=:${OTHER_DIGEST}:"` })
    const answer = { status: 402, headers: { 'www-authenticate': header }, body: NOTHING }
    assert.equal(readPaymentRequired(answer, MONEY, { ...SENT, body: undefined })?.offers.length, 1)
  })

  const answers: readonly (readonly [string, object, Buffer])[] = [
    ['without anything', {}, NOTHING],
    ['with a page for people', {}, Buffer.from('<html>Pay</html>')],
    ['with a header that is no base64', { 'payment-required': '{}' }, NOTHING],
    [
      'with a header of another version',
      { 'payment-required': Buffer.from('{"x402Version":3}').toString('base64') },
      NOTHING,
    ],
    [
      'with offers that are no list',
      { 'payment-required': Buffer.from('{"x402Version":2,"accepts":{}}').toString('base64') },
      NOTHING,
    ],
    ['with a header of 20 KB', { 'payment-required': 'A'.repeat(20_000) }, NOTHING],
    [
      'with JSON that is nested deeply',
      {},
      Buffer.from(`{"x402Version":1,"accepts":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
    ],
    ['with another scheme of authentication', { 'www-authenticate': 'Bearer realm="x, Payment id=1"' }, NOTHING],
  ]
  for (const [title, headers, body] of answers) {
    test(`an answer ${title} is in no protocol that we know`, () => assert.equal(read(headers, body), null))
  }

  test('an answer with another status asks for nothing', () => {
    assert.equal(readPaymentRequired({ status: 200, headers: MPPX, body: NOTHING }, MONEY, SENT), null)
  })

  test('of more than 20 offers in a protocol, the answer says how many were not read', () => {
    const accepts = Array.from({ length: 45 }, () => ACCEPT)
    const body = Buffer.from(JSON.stringify({ x402Version: 1, accepts }))
    const challenges = Array.from({ length: 23 }, () => 'Payment id=x').join(', ')
    assert.equal(read({}, body)?.unread, 25)
    assert.equal(read({ 'www-authenticate': challenges })?.unread, 3)
    assert.equal(read({ 'www-authenticate': `${'Bearer realm=x, '.repeat(30)}Payment id=x` })?.skipped.length, 1)
    assert.equal(read({ 'www-authenticate': challenges }, body)?.unread, 28)
    assert.equal(read(MPPX)?.unread, 0)
  })

  test('only the first 20 offers are read, and what the seller writes is shortened', () => {
    const accepts = Array.from({ length: 100 }, () => ({ ...ACCEPT, scheme: `x\u0000\u202e${'y'.repeat(500)}` }))
    const required = readRequired({
      x402Version: 2,
      accepts: accepts.slice(0, 40).map((one) => ({ ...one, scheme: 'x' })),
    })
    assert.equal(required?.skipped.length, 20)
    const [long] = readRequired({ x402Version: 2, accepts: accepts.slice(0, 1) })?.skipped ?? []
    assert.equal(long?.scheme, `x ${'y'.repeat(98)}`)
  })

  test('members that an object inherits do not count', () => {
    const required = read({
      'payment-required': Buffer.from(`{"x402Version":2,"accepts":[{"__proto__":${JSON.stringify(ACCEPT)}}]}`).toString(
        'base64',
      ),
    })
    assert.deepEqual(reasons(required), ['scheme_unknown'])
  })

  test('whatever a seller sends, reading it never fails, and every offer keeps the rules', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.jsonValue())
    const accept = fc.record(
      {
        scheme: fc.oneof(fc.constant('exact'), value),
        network: fc.oneof(fc.constant(ACCEPT.network), value),
        asset: fc.oneof(fc.constant<string>(USDC), value),
        payTo: fc.oneof(fc.constant(SELLER), value),
        amount: fc.oneof(fc.bigInt().map(String), value),
        maxTimeoutSeconds: fc.oneof(fc.double(), value),
        extra: fc.oneof(fc.constant(ACCEPT.extra), fc.constant(null), value),
      },
      { requiredKeys: [] },
    )
    const header = fc.oneof(
      fc.string(),
      fc
        .record({ x402Version: fc.constant(2), accepts: fc.array(accept) })
        .map((required) => Buffer.from(JSON.stringify(required)).toString('base64')),
    )
    const property = fc.property(header, fc.string(), fc.uint8Array(), (required, challenge, body) => {
      const headers = { 'payment-required': required, 'www-authenticate': `Payment ${challenge}` }
      for (const offer of read(headers, Buffer.from(body))?.offers.filter(({ protocol }) => protocol !== 'mpp') ?? []) {
        assert.equal(offer.payTo, parseAddress(SELLER))
        assert.ok(offer.amountMicro > 0n && offer.amountMicro < 10n ** 15n)
        assert.ok((offer.validForSeconds ?? 0) >= 20)
      }
    })
    fc.assert(property, { numRuns: 300 })
  })
})
