import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentState } from '@bursar/server/src/console/contract/agents.ts'
import { AGENT_STATE_LABELS, explainAgentState } from './agent-state-text.ts'

const STATES = Object.keys(AGENT_STATE_LABELS) as AgentState[]

test('every state has its own label, and only an active agent is called active', () => {
  assert.equal(new Set(Object.values(AGENT_STATE_LABELS)).size, STATES.length)
  assert.deepEqual(
    STATES.filter((state) => /active/i.test(AGENT_STATE_LABELS[state])),
    ['active'],
  )
})

test('a suspended grant is resumed, as the button on its page says', () => {
  assert.match(explainAgentState('suspended')?.next ?? '', /resumed the grant/)
})

test('every state in which an agent can’t spend has its own explanation', () => {
  const reasons = STATES.map((state) => explainAgentState(state)?.why ?? null)
  assert.equal(new Set(reasons).size, STATES.length)
  assert.equal(explainAgentState('active'), null)
})
