import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatRefusal } from '../../format/refusal-text.ts'
import { formatErrorResponse, detailOf, detailsOf, listChecks } from './refusal-checks.ts'

const TEST = { mode: 'test', isPurchase: false } as const
const LIVE = { ...TEST, mode: 'live' } as const

function textOf(code: string, message = ''): string {
  return formatRefusal({ code, message, details: {} })
}

describe('the checks of a rejected request', () => {
  test('checks before the failed one passed, checks after it were skipped', () => {
    assert.deepEqual(
      listChecks('recipient_not_allowed', TEST)?.map(({ state }) => state),
      ['done', 'done', 'done', 'done', 'done', 'failed', 'skipped', 'skipped', 'skipped'],
    )
  })

  test('the plan is only checked in live mode', () => {
    assert.equal(listChecks('insufficient_balance', LIVE)?.length, 10)
    assert.equal(listChecks('insufficient_balance', TEST)?.length, 9)
    assert.equal(listChecks('plan_cap_exceeded', TEST), null)
  })

  test('the gas check is only listed if it failed, because the enclave usually pays for gas', () => {
    assert.deepEqual(listChecks('insufficient_gas', TEST)?.at(-1), { code: 'insufficient_gas', state: 'failed' })
    assert.equal(textOf('insufficient_gas'), 'Not enough native coin for gas in the wallet')
  })

  test('only a purchase is checked for whether the grant allows purchases', () => {
    const isListed = (code: string, isPurchase: boolean) =>
      listChecks(code, { mode: 'test', isPurchase })?.find((check) => check.code === 'purchases_not_allowed')?.state
    assert.equal(isListed('amount_too_large', false), undefined)
    assert.equal(isListed('amount_too_large', true), 'done')
    assert.equal(isListed('permission_expired', true), 'skipped')
    assert.equal(isListed('purchases_not_allowed', true), 'failed')
  })

  test('an unknown code has no checks, and every check has a text', () => {
    assert.equal(listChecks('moon_full', LIVE), null)
    assert.equal(textOf('moon_full', 'The moon is full.'), 'The moon is full.')
    for (const { code } of listChecks('agent_not_found', LIVE) ?? []) assert.notEqual(textOf(code), '')
  })

  test('a missing grant has its reason', () => {
    const texts = ['none', 'pending', 'suspended', 'revoked'].map((reason) =>
      formatRefusal({ code: 'permission_not_found', message: '', details: { reason } }),
    )
    assert.deepEqual(texts, [
      'No grant on the wallet',
      'The grant was not signed yet',
      'The grant was suspended',
      'The grant was revoked',
    ])
  })
})

test('the response is the one that the agent received', () => {
  const details = { max_per_tx_usdc: '1', requested: '2' }
  assert.deepEqual(JSON.parse(formatErrorResponse({ code: 'amount_too_large', message: 'Too much.', details })), {
    error: { type: 'forbidden', message: 'Too much.', code: 'amount_too_large', details },
  })
  assert.deepEqual(JSON.parse(formatErrorResponse({ code: 'agent_not_found', message: 'No.', details: {} })), {
    error: { type: 'not_found', message: 'No.', code: 'agent_not_found' },
  })
})

test('details are read by their type', () => {
  const details = { a: '1', b: 2, c: null, d: ['x', 3] }
  assert.deepEqual([detailOf(details, 'a'), detailOf(details, 'b'), detailOf(details, 'c')], ['1', '2', null])
  assert.deepEqual([detailsOf(details, 'd'), detailsOf(details, 'a')], [['x'], []])
})
