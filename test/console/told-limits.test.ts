import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RECIPIENTS_MAX as TOLD_RECIPIENTS_MAX } from '../../dashboard/src/format/grant-draft.ts'
import { SCOPE_TEXTS } from '../../dashboard/src/format/scope-texts.ts'
import { EVENT_TYPES as TOLD_EVENT_TYPES } from '../../dashboard/src/format/webhook-text.ts'
import { PLANS as TOLD_PLANS } from '../../dashboard/src/pages/workspace/plans.ts'
import { EVENT_TYPES } from '../../server/src/domain/events/event.ts'
import { GRANT_RECIPIENTS_MAX } from '../../server/src/domain/grants/grant.ts'
import { PLANS } from '../../server/src/domain/plans/plan.ts'
import { SCOPE_DESCRIPTIONS } from '../../server/src/values/scope.ts'

test('the plans, event types and limits that the dashboard shows are those that the server enforces', () => {
  const told = TOLD_PLANS.map(({ plan, payments, agents, wallets }) => [
    plan,
    { agentsMax: agents, walletsMax: wallets, monthlyAllowance: payments },
  ])
  assert.deepEqual(Object.fromEntries(told), PLANS)
  assert.deepEqual([...TOLD_EVENT_TYPES].toSorted(), [...EVENT_TYPES].toSorted())
  assert.equal(TOLD_RECIPIENTS_MAX, GRANT_RECIPIENTS_MAX)
})

test('the dashboard describes each scope as openapi.json does', () => {
  const told = Object.entries(SCOPE_TEXTS).map(([scope, { meaning }]) => [scope, meaning])
  assert.deepEqual(Object.fromEntries(told), SCOPE_DESCRIPTIONS)
  const { 'wallet:read': reading, 'x402:pay': buying } = SCOPE_DESCRIPTIONS
  for (const thing of [/all agents of the workspace/, /payments/, /all events/]) assert.match(reading, thing)
  assert.match(buying, /grants that allow purchases/)
})
