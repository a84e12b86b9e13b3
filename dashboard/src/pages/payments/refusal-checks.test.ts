import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatRefusal } from '../../format/refusal-text.ts'
import { formatErrorResponse, detailOf, detailsOf, listChecks } from './refusal-checks.ts'

describe('the checks of a rejected request', () => {
  test('checks before the failed one passed, checks after it were skipped', () => {
    assert.deepEqual(
      listChecks('recipient_not_allowed', 'test')?.map(({ state }) => state),
      ['done', 'done', 'done', 'done', 'done', 'failed', 'skipped', 'skipped', 'skipped'],
    )
  })

  test('the plan is only checked in live mode', () => {
    assert.equal(listChecks('insufficient_balance', 'live')?.length, 10)
    assert.equal(listChecks('insufficient_balance', 'test')?.length, 9)
    assert.equal(listChecks('plan_cap_exceeded', 'test'), null)
  })

  test('the gas check is only listed if it failed, because the enclave usually pays for gas', () => {
    assert.deepEqual(listChecks('insufficient_gas', 'test')?.at(-1), { code: 'insufficient_gas', state: 'failed' })
    assert.equal(formatRefusal('insufficient_gas', ''), 'Not enough native coin for gas in the wallet')
  })

  test('an unknown code has no checks, and every check has a text', () => {
    assert.equal(listChecks('moon_full', 'live'), null)
    assert.equal(formatRefusal('moon_full', 'The moon is full.'), 'The moon is full.')
    for (const { code } of listChecks('agent_not_found', 'live') ?? []) assert.notEqual(formatRefusal(code, ''), '')
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
