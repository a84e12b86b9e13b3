import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Address } from '../values/address.ts'
import { microUsdc } from '../values/money.ts'
import { chooseOffer, rankOffers } from './choose-offer.ts'
import { makeAuthorization } from './make-authorization.ts'
import type { Offer } from './payment-required.ts'
import { writePaymentHeader } from './write-payment-header.ts'

const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7' as Address
const SELLER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' as Address
const NOW = new Date('2026-11-22T22:34:27.700Z')
const NOW_SECONDS = BigInt(Math.floor(NOW.getTime() / 1_000))
const NONCE = `0x${'ab'.repeat(32)}` as const
const SIGNATURE = '0x1234'
const V1 = { protocol: 'x402_v1' } as const
const MAX = { maxAmountMicro: microUsdc(10_000n) }
const FOR_EVER = { from: WALLET, now: NOW, grantExpiresAt: null, nonce: `0x${'cd'.repeat(32)}` as const }

const OFFER: Offer = {
  protocol: 'x402_v2',
  amountMicro: microUsdc(10_000n),
  payTo: SELLER,
  flow: 'authorization',
  validForSeconds: 300,
  terms: null,
  ...{ description: 'Rain', mimeType: null },
  echo: { accepted: { scheme: 'exact' }, resource: { url: 'https://a.example' } },
}

const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000)

describe('the offer that is paid', () => {
  const cheap = { ...OFFER, amountMicro: microUsdc(1n), flow: 'upfront' } as const
  const dear = { ...OFFER, amountMicro: microUsdc(10_001n) }
  const cases = [
    ['none', [], 'none', null],
    ['the lowest price, in any flow', [OFFER, cheap], 'chosen', cheap],
    ['the lowest price, in any protocol', [OFFER, { ...OFFER, amountMicro: microUsdc(2n), ...V1 }, dear], 'chosen', 2n],
    ['of equal prices, the flow that pays for goods only', [{ ...OFFER, flow: 'upfront' }, OFFER], 'chosen', OFFER],
    ['of equal prices and flows, the newer protocol', [{ ...OFFER, ...V1 }, OFFER], 'chosen', OFFER],
    ['of equal offers, the one that the seller wrote first', [OFFER, { ...OFFER, payTo: WALLET }], 'chosen', OFFER],
    [
      'none, because all are too expensive',
      [{ ...dear, amountMicro: microUsdc(10_002n) }, dear],
      'too_expensive',
      dear,
    ],
  ] as const
  for (const [title, offers, kind, expected] of cases) {
    test(`is ${title}`, () => {
      const choice = chooseOffer({ offers: rankOffers(offers) }, MAX)
      assert.equal(choice.kind, kind)
      const offer = choice.kind === 'chosen' ? choice.offer : choice.kind === 'none' ? null : choice.cheapest
      assert.deepEqual(typeof expected === 'bigint' ? offer?.amountMicro : offer, expected)
    })
  }
})

describe('the authorization', () => {
  const ends = (offer: Partial<Offer>, grantExpiresAt: Date | null = null): bigint | null => {
    const made = makeAuthorization({ ...OFFER, ...offer }, { ...FOR_EVER, grantExpiresAt })
    return made === null ? null : made.validBeforeSeconds - NOW_SECONDS
  }
  const mpp = (seconds: number) =>
    ({ protocol: 'mpp', validForSeconds: null, terms: { nonce: NONCE, validBefore: after(seconds) } }) as const

  test('is valid for the offered time, at most 120 s and at least 20 s', () => {
    assert.equal(ends({ validForSeconds: 2_592_000 }), 120n)
    assert.equal(ends({ validForSeconds: 60 }), 60n)
    assert.equal(ends({ validForSeconds: 20 }), 20n)
    assert.equal(ends({ validForSeconds: 19 }), null)
  })
  test('ends with the grant, and is not made if fewer than 20 s are left', () => {
    assert.equal(ends({}, after(60)), 60n)
    assert.equal(ends({}, after(20)), 20n)
    assert.equal(ends({}, after(19)), null)
    assert.equal(ends({}, after(-1)), null)
  })
  test('of MPP has the prescribed nonce and end, or is not made', () => {
    assert.equal(makeAuthorization({ ...OFFER, ...mpp(250) }, FOR_EVER)?.nonce, NONCE)
    assert.equal(ends(mpp(250)), 250n)
    assert.equal(ends(mpp(250), after(200)), null)
    assert.equal(ends(mpp(10)), null)
  })
  test('of x402 has the nonce of the purchase', () => {
    assert.equal(makeAuthorization(OFFER, FOR_EVER)?.nonce, FOR_EVER.nonce)
  })
  test('begins at once in version 2, and 10 minutes earlier in version 1, as its own client writes it', () => {
    assert.equal(makeAuthorization(OFFER, FOR_EVER)?.validAfterSeconds, 0n)
    const v1 = makeAuthorization({ ...OFFER, protocol: 'x402_v1' }, FOR_EVER)
    assert.equal(v1?.validAfterSeconds, NOW_SECONDS - 600n)
  })
})

describe('the payment header', () => {
  const authorization = {
    ...{ from: WALLET, to: SELLER, valueMicro: microUsdc(10_000n), validAfterSeconds: 0n },
    ...{ validBeforeSeconds: 1_795_387_000n, nonce: NONCE },
  }
  const written = {
    ...{ from: WALLET, to: SELLER, value: '10000', validAfter: '0', validBefore: '1795387000', nonce: NONCE },
  }
  const signed = { authorization, signature: SIGNATURE, chainId: 84532, paymentId: 'pay_01' } as const
  const open = (value: string, encoding: 'base64' | 'base64url' = 'base64'): unknown =>
    JSON.parse(Buffer.from(value, encoding).toString('utf8'))

  test('of version 2 repeats the offer', () => {
    const { name, value } = writePaymentHeader(OFFER, signed)
    assert.equal(name, 'PAYMENT-SIGNATURE')
    const payload = { signature: SIGNATURE, authorization: written }
    assert.deepEqual(open(value), { x402Version: 2, ...(OFFER.echo as object), payload })
  })
  test('of version 2 repeats extensions, and adds the id of the payment where it is asked for', () => {
    const extensions = { bazaar: { info: 1 }, 'payment-identifier': { info: { required: true }, schema: {} } }
    const { value } = writePaymentHeader({ ...OFFER, echo: { ...(OFFER.echo as object), extensions } }, signed)
    const sent = (open(value) as { readonly extensions: object }).extensions
    const info = { required: true, id: 'pay_01' }
    assert.deepEqual(sent, { ...extensions, 'payment-identifier': { info, schema: {} } })
  })
  test('of version 1 names scheme and network', () => {
    const echo = { scheme: 'exact', network: 'base-sepolia' }
    const { name, value } = writePaymentHeader({ ...OFFER, protocol: 'x402_v1', echo }, signed)
    assert.equal(name, 'X-PAYMENT')
    assert.deepEqual(open(value), {
      x402Version: 1,
      ...echo,
      payload: { signature: SIGNATURE, authorization: written },
    })
  })
  test('of MPP repeats all parameters of the challenge', () => {
    const echo = {
      id: 'one',
      realm: 'r',
      method: 'evm',
      intent: 'charge',
      request: 'e30',
      expires: 'later',
      opaque: 'x',
    }
    const { name, value } = writePaymentHeader({ ...OFFER, protocol: 'mpp', echo }, signed)
    assert.equal(name, 'Authorization')
    const asked = { ...OFFER, protocol: 'mpp', echo: { ...echo, header: 'payment-authorization' } } as const
    assert.equal(writePaymentHeader(asked, signed).name, 'Payment-Authorization')
    const [scheme, credential = ''] = value.split(' ')
    assert.equal(scheme, 'Payment')
    const payload = { type: 'authorization', ...written, signature: SIGNATURE }
    assert.deepEqual(open(credential, 'base64url'), {
      challenge: echo,
      payload,
      source: `did:pkh:eip155:84532:${WALLET}`,
    })
  })
})
