import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPE_DESCRIPTIONS } from './scope.ts'

test('the texts say that reading covers the whole workspace, and that buying needs a grant that allows it', () => {
  const { 'wallet:read': reading, 'x402:pay': buying } = SCOPE_DESCRIPTIONS
  for (const thing of [/all agents of the workspace/, /payments/, /all events/]) assert.match(reading, thing)
  assert.match(buying, /grants that allow purchases/)
})
