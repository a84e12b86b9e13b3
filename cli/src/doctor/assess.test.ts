import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Identity, Wallet } from 'bursar'
import { assessClock, assessGrants, assessScopes } from './assess.ts'

const NOW = new Date('2026-11-23T12:00:00.000Z')
const ME = { agent_id: 'robot', server_time: NOW.toISOString() } as Identity

function walletWith(change: object, balance: string | null = '5'): Wallet {
  const grant = {
    agent_id: 'robot',
    state: 'active',
    max_per_tx_usdc: '10',
    remaining_24h_usdc: '9',
    expires_at: null,
    ...change,
  }
  return { address: '0xab', balance_usdc: balance, grants: [grant] } as unknown as Wallet
}

describe('the doctor', () => {
  test('a clock may differ by a minute', () => {
    assert.equal(assessClock({ server_time: '2026-11-23T12:01:00.000Z' }, NOW).status, 'ok')
    assert.match(assessClock({ server_time: '2026-11-23T12:01:01.000Z' }, NOW).message, /61 seconds behind/)
    assert.match(assessClock({ server_time: '2026-11-23T11:00:00.000Z' }, NOW).message, /3600 seconds ahead of/)
  })

  test('missing scopes are named', () => {
    const all = ['wallet:read', 'wallet:transfer', 'x402:pay']
    assert.equal(assessScopes({ scopes: all, auth_type: 'oauth' }).status, 'ok')
    const check = assessScopes({ scopes: ['wallet:read'], auth_type: 'oauth' })
    assert.match(check.message, /wallet:transfer.*x402:pay/)
    assert.deepEqual(check.next, ['bursar', 'login'])
  })

  const cases: readonly (readonly [string, Wallet, RegExp])[] = [
    ['not signed', walletWith({ state: 'pending' }), /not signed yet/],
    ['suspended', walletWith({ state: 'suspended' }), /suspended/],
    ['expired', walletWith({ state: 'expired' }), /has expired/],
    ['used up', walletWith({ remaining_24h_usdc: '0' }), /used up/],
    ['on an empty wallet', walletWith({}, '0'), /empty/],
    ['of another agent', walletWith({ agent_id: 'other' }), /no wallet from which you can pay/],
  ]
  for (const [what, wallet, message] of cases) {
    test(`a grant that is ${what} cannot pay, and the doctor says so`, () => {
      const checks = assessGrants([wallet], ME)
      assert.ok(
        checks.some((check) => message.test(check.message)),
        JSON.stringify(checks),
      )
      assert.equal(checks.at(-1)?.status, 'failed')
      for (const check of checks) assert.notEqual(check.fix, undefined)
    })
  }

  test('a grant that can pay is enough, and an early expiry is told', () => {
    const soon = walletWith({ expires_at: '2026-11-23T13:00:00.000Z' }, null)
    const checks = assessGrants([walletWith({ state: 'expired' }), soon], ME)
    assert.deepEqual(
      checks.map(({ status }) => status),
      ['warning', 'ok'],
    )
    assert.match(checks[1]?.message ?? '', /unknown now\. The grant expires at 2026-11-23T13/)
  })
})
