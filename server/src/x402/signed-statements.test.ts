import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readReceipt, readSignedOffer } from './signed-statements.ts'
import { parseExactObject } from './wire-values.ts'

const ACCEPTED = { scheme: 'exact', network: 'eip155:84532', asset: '0xAb', payTo: '0xCd', amount: '10000' }
const PAYLOAD = { version: 1, resourceUrl: 'https://a.example/', ...ACCEPTED, asset: '0xaB', validUntil: 1_703_123_516 }
const JWS = `e30.${Buffer.from(JSON.stringify(PAYLOAD)).toString('base64url')}.c2ln`
const TYPED = { format: 'eip712', acceptIndex: 0, payload: PAYLOAD, signature: '0x12' }

type Json = Readonly<Record<string, unknown>>

describe('the signed offer of a seller', () => {
  test('is the one for the offer that is paid, as the seller wrote it', () => {
    const other = { ...TYPED, payload: { ...PAYLOAD, amount: '20000' } }
    const jws = { format: 'jws', acceptIndex: 3, signature: JWS }
    assert.equal(read([other, TYPED, jws]), JSON.stringify(TYPED))
    assert.equal(read([other, jws, TYPED]), JSON.stringify(jws))
    const written = JSON.stringify(TYPED).replace('1703123516', '1703123516.0')
    assert.equal(readText(`[${written}]`), written)
  })

  for (const [about, offers] of Object.entries<unknown>({
    'there is none': [],
    'it is no list': TYPED,
    'its entries are no objects': [null, 1, 'a', [TYPED]],
    'each is for other terms': ['scheme', 'network', 'asset', 'payTo', 'amount'].flatMap((name) => [
      { ...TYPED, payload: { ...PAYLOAD, [name]: 'other' } },
      { ...TYPED, payload: { ...PAYLOAD, [name]: undefined } },
    ]),
    'it has no signature': [{ ...TYPED, signature: undefined }, { payload: PAYLOAD }],
    'its JWS cannot be read': [
      { signature: 'a' },
      { signature: 'a.b.c' },
      { signature: `e30.${Buffer.from('[1]').toString('base64url')}.a` },
    ],
  })) {
    test(`is not found if ${about}`, () => {
      assert.equal(read(offers), null)
    })
  }

  test('is not kept if it is large', () => {
    const empty = JSON.stringify({ ...TYPED, more: '' })
    const ofLength = (bytes: number, more = 'x'.repeat(bytes - empty.length)) => {
      return readSignedOffer(echoOf(JSON.stringify([{ ...TYPED, more }])))
    }
    assert.equal(ofLength(8_192)?.text?.length, 8_192)
    assert.deepEqual(ofLength(8_193), { text: null })
    assert.deepEqual(ofLength(0, '✓'.repeat(2_700)), { text: null })
  })

  test('is not looked for in other protocols, or in what is no offer', () => {
    const { echo } = echoOf(JSON.stringify([TYPED]))
    assert.equal(readSignedOffer({ protocol: 'x402_v1', echo }), null)
    for (const wrong of [
      null,
      'a',
      [],
      { accepted: ACCEPTED },
      { accepted: ACCEPTED, extensions: { 'offer-receipt': 1 } },
    ])
      assert.equal(readSignedOffer({ protocol: 'x402_v2', echo: wrong }), null)
  })

  function read(offers: unknown) {
    return readText(JSON.stringify(offers))
  }

  function readText(offers: string) {
    return readSignedOffer(echoOf(offers))?.text ?? null
  }

  function echoOf(offers: string) {
    const extensions = `{"offer-receipt":{"info":{"offers":${offers}}}}`
    return {
      protocol: 'x402_v2',
      echo: parseExactObject(`{"accepted":${JSON.stringify(ACCEPTED)},"extensions":${extensions}}`),
    } as const
  }
})

describe('the receipt of a seller', () => {
  const RECEIPT = { format: 'jws', signature: 'a.b.c' }
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')
  const settled = (receipt: unknown): Json => ({
    success: true,
    extensions: { 'offer-receipt': { info: { receipt } } },
  })

  test('is in the header of each protocol, and kept as the seller wrote it', () => {
    const header = encode(settled(RECEIPT))
    assert.deepEqual(readReceipt('x402_v2', { 'payment-response': header }), { text: JSON.stringify(RECEIPT) })
    assert.deepEqual(readReceipt('x402_v1', { 'x-payment-response': header }), { text: JSON.stringify(RECEIPT) })
    assert.deepEqual(readReceipt('mpp', { 'payment-receipt': 'eyJhIjoxfQ' }), { text: 'eyJhIjoxfQ' })
    assert.equal(readReceipt('x402_v2', { 'x-payment-response': header, 'payment-receipt': header }), null)
  })

  for (const [about, header] of Object.entries({
    'there is no header': undefined,
    'the header is empty': '',
    'the header is not base64': '{}',
    'the header is no JSON': Buffer.from('{').toString('base64'),
    'the header is no object': encode([settled(RECEIPT)]),
    'the seller has signed nothing': encode({ success: true }),
    'it has no signature': encode(settled({ format: 'jws' })),
    'it is a text': encode(settled('a.b.c')),
  })) {
    test(`is not found if ${about}`, () => {
      assert.equal(readReceipt('x402_v2', { 'payment-response': header }), null)
    })
  }

  test('is not kept if it is large', () => {
    const large = encode(settled({ ...RECEIPT, more: 'x'.repeat(8_200) }))
    assert.deepEqual(readReceipt('x402_v2', { 'payment-response': large }), { text: null })
    assert.deepEqual(readReceipt('mpp', { 'payment-receipt': 'x'.repeat(8_193) }), { text: null })
    assert.equal(readReceipt('mpp', { 'payment-receipt': 'x'.repeat(8_192) })?.text?.length, 8_192)
  })
})
