import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatStopPreview, formatUnderWay, formatWaiting } from './stop-text.ts'

test('a stop says in numbers what it suspends, and what it does not', () => {
  const preview = { grants: 1_200, agents: 1, wallets: 3, pending_payments: 1 }
  assert.equal(formatStopPreview(preview), 'This suspends 1,200 active grants of 1 agent on 3 wallets at once.')
  assert.equal(formatUnderWay(preview), '1 payment is already under way and may still arrive.')
  assert.equal(formatUnderWay({ ...preview, pending_payments: 0 }), null)
  assert.match(formatStopPreview({ ...preview, grants: 0 }), /nothing to stop/)
})

test('grants that somebody else must sign for wait for these people by name', () => {
  const group = { credential_id: 'a', name: 'Key', is_mine: false, people: ['Bob', 'Carol'], grants: 2 }
  const named = [{ address: '0x1', name: 'Savings' }]
  assert.equal(formatWaiting({ ...group, wallets: named }), '2 grants on “Savings” wait for Bob or Carol.')
  const many = Array.from({ length: 4 }, (_, index) => ({ address: `0x${index}`, name: 'W' }))
  assert.equal(formatWaiting({ ...group, grants: 1, wallets: many }), '1 grant on 4 wallets waits for Bob or Carol.')
})
