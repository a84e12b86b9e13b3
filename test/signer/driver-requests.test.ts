import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { array, assert as check, bigInt, boolean, date, option, property, record, uint8Array } from 'fast-check'
import { createSoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { formatRuleName } from '../../server/src/domain/grants/rule-name.ts'
import { openEnclave } from '../../server/src/enclave/privy/open-enclave.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { parseAddress, type Address } from '../../server/src/values/address.ts'
import { createId } from '../../server/src/values/ids.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import { checkRequest } from '../../signer/src/check-request.ts'
import { decodeRequest, type Decoded } from '../../signer/src/decode/request.ts'
import { ENCLAVE, NOW, RECORD, WALLET } from './sample-requests.ts'

const EXPIRES_AT = new Date(NOW.getTime() + 5 * 60_000)
const USDC = toAddress('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')

const address = uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) =>
  toAddress(`0x${Buffer.from(bytes).toString('hex')}`),
)
const amount = bigInt({ min: 1n, max: 10n ** 18n }).map((micro) => microUsdc(micro))
const terms = record({
  maxPerTxMicro: amount,
  dailyCapMicro: bigInt({ min: 1n, max: 10n ** 17n - 1n }).map((micro) => microUsdc(micro)),
  recipientAllowlist: array(address, { maxLength: 100 }),
  expiresAt: option(date({ min: NOW, max: new Date('9999-12-31'), noInvalidDate: true }), { nil: null }),
  x402: boolean(),
})

/** The driver, which only builds requests here and sends none. */
const enclave = openEnclave(
  { apiUrl: ENCLAVE, appId: RECORD.appId, appSecret: 'secret', timeoutMs: 1_000 },
  { clock: createClock(), logger: createLogger('silent') },
)

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
      property(terms, ({ maxPerTxMicro, dailyCapMicro, recipientAllowlist, expiresAt, x402 }) => {
        const grantId = createId('grant', EXPIRES_AT)
        const rules = enclave.toRules({
          ruleName: formatRuleName({ grantId, dailyCapMicro }),
          chainId: 8453,
          maxPerTxMicro,
          recipientAllowlist,
          contractAllowlist: [USDC],
          expiresAt,
          x402,
          usdc: USDC,
        })
        const { payload } = enclave.prepareRules({ slot: { enclaveRulesId: 'policy2' }, rules, expiresAt: EXPIRES_AT })
        const decoded = read(payload)
        assert.ok(decoded.kind === 'policy' && decoded.terms !== null)
        assert.deepEqual(decoded.terms, {
          grantId,
          chainId: 8453n,
          tokens: [USDC.toLowerCase()],
          amountMax: maxPerTxMicro,
          dailyMax: dailyCapMicro,
          recipients:
            recipientAllowlist.length === 0 ? null : [...new Set(recipientAllowlist.map((one) => one.toLowerCase()))],
          endsAt: expiresAt === null ? null : new Date(Math.floor(expiresAt.getTime() / 1_000) * 1_000),
          purchaseToken: x402 ? USDC.toLowerCase() : null,
        })
      }),
    )
  })

  test('the end of a grant', () => {
    const { payload } = enclave.prepareRules({ slot: { enclaveRulesId: 'policy1' }, rules: [], expiresAt: EXPIRES_AT })
    const decoded = read(payload)
    assert.ok(decoded.kind === 'policy')
    assert.equal(decoded.terms, null)
  })

  test('a change of the owners', () => {
    const keys = Array.from({ length: 5 }, () => createSoftwarePasskey({ rpId: 'x', origin: 'http://x' }).publicKeySpki)
    const wallet = { enclaveOwnersId: RECORD.quorumId }
    const decoded = read(enclave.prepareOwners({ wallet, owners: keys, expiresAt: EXPIRES_AT }).payload)
    assert.ok(decoded.kind === 'owners')
    assert.deepEqual(decoded.publicKeys, keys)
  })

  test('any withdrawal', () => {
    check(
      property(record({ to: address, micro: amount, sponsor: boolean() }), ({ to, micro, sponsor }) => {
        const { payload } = enclave.prepareTransfer({
          enclaveWalletId: RECORD.walletId,
          chainId: 8453,
          contract: USDC,
          from: toAddress(WALLET),
          to,
          amountMicro: micro,
          sponsored: sponsor,
          referenceId: 'pay_1',
          attemptKey: 'attempt-1',
          expiresAt: EXPIRES_AT,
        })
        const decoded = read(payload)
        assert.ok(decoded.kind === 'transfer')
        assert.deepEqual(decoded.transfer, {
          chainId: 8453n,
          token: USDC.toLowerCase(),
          from: WALLET,
          to: to.toLowerCase(),
          amount: micro,
          reference: 'pay_1',
        })
      }),
    )
  })
})
