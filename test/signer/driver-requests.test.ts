import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { array, assert as check, bigInt, boolean, date, option, property, record, uint8Array } from 'fast-check'
import { encodeFunctionData, erc20Abi } from 'viem'
import { formatSignedPayload } from '../../sandbox/src/enclave/check-authorization.ts'
import { createSoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { buildOwnersChange } from '../../server/src/enclave/privy/owners-change.ts'
import { buildPolicyChange } from '../../server/src/enclave/privy/policy-change.ts'
import { buildPolicyRules } from '../../server/src/enclave/privy/policy-rules.ts'
import { parseAddress, type Address } from '../../server/src/values/address.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import { checkRequest } from '../../signer/src/check-request.ts'
import { decodeRequest, type Decoded } from '../../signer/src/decode/request.ts'
import { ENCLAVE, NOW, RECORD, WALLET } from './sample-requests.ts'

const ADDRESS = { apiUrl: ENCLAVE, appId: RECORD.appId }
const EXPIRES_AT = new Date(NOW.getTime() + 5 * 60_000)
const USDC = toAddress('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')

const address = uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) =>
  toAddress(`0x${Buffer.from(bytes).toString('hex')}`),
)
const amount = bigInt({ min: 1n, max: 10n ** 18n }).map((micro) => microUsdc(micro))
const terms = record({
  maxPerTxMicro: amount,
  recipientAllowlist: array(address, { maxLength: 100 }),
  expiresAt: option(date({ min: NOW, max: new Date('9999-12-31'), noInvalidDate: true }), { nil: null }),
  x402: boolean(),
})

function toAddress(text: string): Address {
  const parsed = parseAddress(text)
  assert.ok(parsed !== null)
  return parsed
}

function read(challenge: Uint8Array): Decoded {
  const decoded = decodeRequest(challenge)
  assert.ok(decoded.kind !== 'record')
  checkRequest(decoded, RECORD, NOW)
  return decoded
}

describe('what the service asks to sign, the page understands', () => {
  test('the terms of any grant', () => {
    check(
      property(terms, ({ maxPerTxMicro, recipientAllowlist, expiresAt, x402 }) => {
        const rules = buildPolicyRules({
          chainId: 8453,
          maxPerTxMicro,
          recipientAllowlist,
          contractAllowlist: [USDC],
          expiresAt,
          x402,
          usdc: USDC,
        })
        const { challenge } = buildPolicyChange(ADDRESS, { policyId: 'policy2', rules, expiresAt: EXPIRES_AT })
        const decoded = read(challenge)
        assert.ok(decoded.kind === 'policy' && decoded.terms !== null)
        assert.deepEqual(decoded.terms, {
          chainId: 8453n,
          tokens: [USDC.toLowerCase()],
          amountMax: maxPerTxMicro,
          recipients:
            recipientAllowlist.length === 0 ? null : [...new Set(recipientAllowlist.map((one) => one.toLowerCase()))],
          endsAt: expiresAt === null ? null : new Date(Math.floor(expiresAt.getTime() / 1_000) * 1_000),
          purchaseToken: x402 ? USDC.toLowerCase() : null,
        })
      }),
    )
  })

  test('the end of a grant', () => {
    const { challenge } = buildPolicyChange(ADDRESS, { policyId: 'policy1', rules: [], expiresAt: EXPIRES_AT })
    const decoded = read(challenge)
    assert.ok(decoded.kind === 'policy')
    assert.equal(decoded.terms, null)
  })

  test('a change of the owners', () => {
    const keys = Array.from({ length: 5 }, () => createSoftwarePasskey({ rpId: 'x', origin: 'http://x' }).publicKeySpki)
    const change = { quorumId: RECORD.quorumId, publicKeys: keys, expiresAt: EXPIRES_AT }
    const decoded = read(buildOwnersChange(ADDRESS, change).challenge)
    assert.ok(decoded.kind === 'owners')
    assert.deepEqual(decoded.publicKeys, keys)
  })

  test('any withdrawal', () => {
    check(
      property(record({ to: address, micro: amount, sponsor: boolean() }), ({ to, micro, sponsor }) => {
        const challenge = formatSignedPayload({
          method: 'POST',
          url: `${ENCLAVE}/v1/wallets/${RECORD.walletId}/rpc`,
          body: {
            method: 'eth_sendTransaction',
            chain_type: 'ethereum',
            caip2: 'eip155:8453',
            sponsor,
            reference_id: 'pay_1',
            params: {
              transaction: {
                from: WALLET,
                to: USDC,
                data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, micro] }),
                value: '0x0',
                chain_id: 8453,
              },
            },
          },
          appId: RECORD.appId,
          idempotencyKey: 'attempt-1',
          expiry: String(EXPIRES_AT.getTime()),
        })
        const decoded = read(challenge)
        assert.ok(decoded.kind === 'transfer')
        assert.deepEqual(decoded.transfer, {
          chainId: 8453n,
          token: USDC.toLowerCase(),
          from: WALLET,
          to: to.toLowerCase(),
          amount: micro,
        })
      }),
    )
  })
})
