import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RECIPIENTS_MAX as TOLD_RECIPIENTS_MAX } from '../../dashboard/src/format/grant-draft.ts'
import { EVENT_TYPES as TOLD_EVENT_TYPES } from '../../dashboard/src/format/webhook-text.ts'
import { PLANS as TOLD_PLANS } from '../../dashboard/src/pages/workspace/plans.ts'
import { EVENT_TYPES } from '../../server/src/domain/events/event.ts'
import { GRANT_RECIPIENTS_MAX } from '../../server/src/domain/grants/grant.ts'
import { PLANS } from '../../server/src/domain/plans/plan.ts'

test('what the dashboard tells of plans, kinds of event and recipients is what the server holds to', () => {
  const told = TOLD_PLANS.map(({ plan, payments, agents, wallets }) => [
    plan,
    { agentsMax: agents, walletsMax: wallets, monthlyAllowance: payments },
  ])
  assert.deepEqual(Object.fromEntries(told), PLANS)
  assert.deepEqual([...TOLD_EVENT_TYPES].toSorted(), [...EVENT_TYPES].toSorted())
  assert.equal(TOLD_RECIPIENTS_MAX, GRANT_RECIPIENTS_MAX)
})
