import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProblemCode } from '../values/problem.ts'
import { describeRefusal } from './describe-refusal.ts'

const CAP = { daily_cap_usdc: '5', spent_24h_usdc: '1.5', remaining_24h_usdc: '3.5', requested: '4' }
const RECIPIENTS = Array.from({ length: 12 }, (_, index) => `0x${index}`)

const REFUSALS: readonly (readonly [ProblemCode, Record<string, unknown> | undefined, RegExp])[] = [
  ['amount_too_large', { max_per_tx_usdc: '10', requested: '11' }, /^You can pay at most 10 USDC in one payment\.$/],
  [
    'daily_cap_exceeded',
    { ...CAP, resets_at: '2026-06-01T00:00:00.000Z' },
    /^3\.5 USDC of the limit of 5 USDC in 24 hours is left now\. This amount will be possible from 2026-06-01T00:00:00\.000Z on\.$/,
  ],
  ['daily_cap_exceeded', { ...CAP, resets_at: null }, /larger than the limit, so it will never be possible/],
  ['daily_cap_exceeded', CAP, /^3\.5 USDC of the limit of 5 USDC in 24 hours is left now\.$/],
  [
    'daily_cap_exceeded',
    { ...CAP, remaining_24h_usdc: '0' },
    /^Nothing of the limit of 5 USDC in 24 hours is left now\.$/,
  ],
  ['recipient_not_allowed', { recipient_allowlist: ['0x1', '0x2'] }, /only these recipients: 0x1, 0x2\./],
  ['recipient_not_allowed', { recipient_allowlist: RECIPIENTS }, /0x9 and 2 more\./],
  ['insufficient_balance', { balance_usdc: '3', pending_usdc: '0.75' }, /has 2\.25 USDC that you can spend/],
  ['insufficient_balance', { balance_usdc: '3', pending_usdc: '4' }, /has 0 USDC that you can spend/],
  ['insufficient_gas', { coin: 'ETH', balance: '0', needed: '0.01' }, /send ETH to the wallet, which needs 0\.01 ETH/],
  [
    'plan_cap_exceeded',
    { allowance: 1, used: 1, resets_at: '2026-07-01' },
    /No live payment is possible until 2026-07-01/,
  ],
  ['privy_call_failed', undefined, /same purchase_id: it never pays twice/],
  ['grant_exists', undefined, /Do not repeat the call unchanged/],
]

for (const [code, details, sentence] of REFUSALS) {
  test(`after ${code} (${JSON.stringify(details)?.slice(0, 60)}), the model learns what is possible`, () => {
    assert.match(describeRefusal(code, details), sentence)
  })
}
