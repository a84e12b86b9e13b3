import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { recoverAddress } from 'viem/utils'
import type { Address } from '../values/address.ts'
import { microUsdc } from '../values/money.ts'
import { hashAuthorization, usdcDomain } from '../values/transfer-authorization.ts'
import { readPaymentRequired } from './read-payment-required.ts'
import { writePaymentHeader } from './write-payment-header.ts'

interface Vectors {
  readonly payer: Address
  readonly cases: readonly {
    readonly protocol: 'x402_v2' | 'x402_v1' | 'mpp'
    readonly asked: { readonly headers: Readonly<Record<string, string>>; readonly body: string }
    readonly header: { readonly name: string; readonly value: string }
  }[]
}

interface WireAuthorization {
  readonly from: Address
  readonly to: Address
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: `0x${string}`
}

const CHAIN_ID = 84532
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e' as Address
const NOW = new Date('2026-11-23T01:24:31.900Z')
const PAYMENT_ID = 'pay_01K0000000000000000000000'

const { payer, cases }: Vectors = JSON.parse(
  await readFile(new URL('packages.vectors.json', import.meta.url), 'utf8'),
) as Vectors

/**
 * Each case has what a package asked for on the seller's side, and the header with which the package's own client paid.
 */
describe('the headers of the packages x402 and mppx', () => {
  for (const { protocol, asked, header } of cases) {
    test(`${protocol}: our header for the same authorization and signature is that of the package`, async () => {
      const required = readPaymentRequired(
        { status: 402, headers: asked.headers, body: Buffer.from(asked.body) },
        { chainId: CHAIN_ID, usdc: USDC, now: NOW },
        { headerBytesMax: 8_000, body: null },
      )
      assert.equal(required?.protocol, protocol)
      assert.equal(required.description, 'The weather')
      const [offer, ...more] = required.offers
      assert.ok(offer !== undefined && more.length === 0)
      const { wire, signature } = readSent(header.value)
      assert.deepEqual([offer.payTo, offer.amountMicro], [wire.to, 10_000n])
      if (offer.terms !== null) {
        const end = String(Math.floor(offer.terms.validBefore.getTime() / 1_000))
        assert.deepEqual([offer.terms.nonce, end], [wire.nonce, wire.validBefore])
      }
      const authorization = {
        from: wire.from,
        to: wire.to,
        valueMicro: microUsdc(BigInt(wire.value)),
        validAfterSeconds: BigInt(wire.validAfter),
        validBeforeSeconds: BigInt(wire.validBefore),
        nonce: wire.nonce,
      }
      const hash = hashAuthorization(usdcDomain(CHAIN_ID, USDC), authorization)
      assert.equal(await recoverAddress({ hash, signature }), payer)
      const ours = writePaymentHeader(offer, { authorization, signature, chainId: CHAIN_ID, paymentId: PAYMENT_ID })
      assert.equal(ours.name, header.name)
      assert.deepEqual(withoutPaymentId(decode(ours.value)), decode(header.value))
    })
  }
})

function decode(value: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(value.replace('Payment ', ''), 'base64').toString('utf8')) as Record<string, unknown>
}

/** Returns the authorization and the signature of a header. In MPP, both are in the same object. */
function readSent(value: string): { wire: WireAuthorization; signature: `0x${string}` } {
  const { payload } = decode(value) as {
    payload: WireAuthorization & { signature: `0x${string}`; authorization?: WireAuthorization }
  }
  return { wire: payload.authorization ?? payload, signature: payload.signature }
}

/** Removes the id of the payment: the package sends one only if its caller sets it. */
function withoutPaymentId(payload: Record<string, unknown>): Record<string, unknown> {
  const identifier = (payload['extensions'] as Record<string, { info: { id?: string } }> | undefined)?.[
    'payment-identifier'
  ]
  if (identifier !== undefined) {
    assert.equal(identifier.info.id, PAYMENT_ID)
    delete identifier.info.id
  }
  return payload
}
