import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEventSubject } from './parse-event-subject.ts'

test('the subject of an event is read from its data', () => {
  const rows = [
    [{ payment: { id: 'pay_1', amount_usdc: '1.5', memo: null } }, { kind: 'payment', id: 'pay_1', amountUsdc: '1.5' }],
    [
      { deposit: { wallet: '0x1', amount_usdc: '2', block_number: 7 } },
      { kind: 'deposit', wallet: '0x1', amountUsdc: '2' },
    ],
    [{ grant: { id: 'grt_1', agent_id: 'bot', expires_at: null } }, { kind: 'grant', id: 'grt_1', agentId: 'bot' }],
    [{ webhook: { id: 'whk_1' } }, { kind: 'webhook', id: 'whk_1' }],
  ] as const
  for (const [data, subject] of rows) assert.deepEqual(parseEventSubject({ data }), subject)
})

test('an unknown kind has no subject', () => {
  for (const data of [{}, { payment: null }, { payment: { id: 7 } }, { moon: { id: 'moon_1' } }]) {
    assert.equal(parseEventSubject({ data }), null)
  }
})
