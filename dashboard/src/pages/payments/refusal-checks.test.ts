import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatRefusal } from '../../format/refusal-text.ts'
import { answerOf, detailOf, detailsOf, listChecks } from './refusal-checks.ts'

describe('the checks of a refused request', () => {
  test('those before the failed one passed, those after it were not looked at', () => {
    assert.deepEqual(
      listChecks('recipient_not_allowed', 'test')?.map(({ state }) => state),
      ['done', 'done', 'done', 'done', 'done', 'failed', 'skipped', 'skipped', 'skipped'],
    )
  })

  test('the plan’s allowance is looked at in live mode only', () => {
    assert.equal(listChecks('insufficient_balance', 'live')?.length, 10)
    assert.equal(listChecks('insufficient_balance', 'test')?.length, 9)
    assert.equal(listChecks('plan_cap_exceeded', 'test'), null)
  })

  test('gas is listed only when it is what failed, since most payments are sponsored', () => {
    assert.deepEqual(listChecks('insufficient_gas', 'test')?.at(-1), { code: 'insufficient_gas', state: 'failed' })
    assert.equal(formatRefusal('insufficient_gas', ''), 'Too little coin in the wallet to pay for gas')
  })

  test('a code that is none of them has no such list, and every one of them has words', () => {
    assert.equal(listChecks('moon_full', 'live'), null)
    assert.equal(formatRefusal('moon_full', 'The moon is full.'), 'The moon is full.')
    for (const { code } of listChecks('agent_not_found', 'live') ?? []) assert.notEqual(formatRefusal(code, ''), '')
  })
})

test('the answer is the one that the agent was given', () => {
  const details = { max_per_tx_usdc: '1', requested: '2' }
  assert.deepEqual(JSON.parse(answerOf({ code: 'amount_too_large', message: 'Too much.', details })), {
    error: { type: 'forbidden', message: 'Too much.', code: 'amount_too_large', details },
  })
  assert.deepEqual(JSON.parse(answerOf({ code: 'agent_not_found', message: 'No.', details: {} })), {
    error: { type: 'not_found', message: 'No.', code: 'agent_not_found' },
  })
})

test('details are read as what they are', () => {
  const details = { a: '1', b: 2, c: null, d: ['x', 3] }
  assert.deepEqual([detailOf(details, 'a'), detailOf(details, 'b'), detailOf(details, 'c')], ['1', '2', null])
  assert.deepEqual([detailsOf(details, 'd'), detailsOf(details, 'a')], [['x'], []])
})
