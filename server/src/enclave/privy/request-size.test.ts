import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createSoftwarePasskey } from '../../../../sandbox/src/software-passkey.ts'
import { parseAddress, type Address } from '../../values/address.ts'
import { microUsdc } from '../../values/money.ts'
import { GRANT_RECIPIENTS_MAX, PURCHASE_RECIPIENTS_MAX } from '../../domain/grants/grant.ts'
import { RULE_NAME_CHARS_MAX } from '../rule-name-limit.ts'
import { buildPayload, formatAssertion } from './request-to-sign.ts'
import { toRules } from './terms.ts'

const ENCLAVE = { apiUrl: 'https://api.privy.io', appId: 'a'.repeat(25) }
/**
 * Many servers, among them Node.js, reject headers above 16 KiB in total. The remaining 1 KiB is for all other headers.
 */
const HEADER_BYTES_MAX = 15 * 1024
const expiresAt = new Date('2100-01-01T00:00:00Z')
const passkey = createSoftwarePasskey({ rpId: 'signer.example.com', origin: 'https://signer.example.com' })

describe("an owner's signature fits into the headers that servers accept", () => {
  for (const [what, x402, recipients] of [
    ['without purchases', false, GRANT_RECIPIENTS_MAX],
    ['with purchases', true, PURCHASE_RECIPIENTS_MAX],
  ] as const) {
    test(`over the longest grant ${what}`, () => {
      const rules = toRules({
        ruleName: '0'.repeat(RULE_NAME_CHARS_MAX),
        chainId: 84532,
        maxPerTxMicro: microUsdc(10n ** 21n),
        recipientAllowlist: addresses(recipients),
        contractAllowlist: addresses(10),
        expiresAt,
        x402,
        usdc: addresses(1)[0] ?? assert.fail(),
      })
      check(buildPayload(ENCLAVE, { path: ['policies', id()], body: { rules }, expiresAt }))
    })
  }
})

function check(challenge: Uint8Array): void {
  const { length } = formatAssertion(passkey.assert(challenge).response)
  assert.ok(length < HEADER_BYTES_MAX, `${length} bytes`)
}

function addresses(count: number): Address[] {
  return Array.from({ length: count }, () => parseAddress(`0x${randomBytes(20).toString('hex')}`) ?? assert.fail())
}

function id(): string {
  return randomBytes(12).toString('hex')
}
