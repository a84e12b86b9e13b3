import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideAgentState, type AgentState, type LiveGrantState } from './agent-state.ts'

describe('the state of an agent', () => {
  const cases: readonly (readonly [grants: readonly LiveGrantState[], state: AgentState])[] = [
    [[], 'no_grant'],
    [['active'], 'active'],
    [['pending'], 'pending'],
    [['suspended'], 'suspended'],
    [['expired'], 'expired'],
    [['suspended', 'active'], 'active'],
    [['expired', 'active'], 'active'],
    [['active', 'pending'], 'active'],
    [['suspended', 'pending'], 'pending'],
    [['expired', 'pending'], 'pending'],
    [['expired', 'suspended'], 'suspended'],
    [['expired', 'suspended', 'pending', 'active'], 'active'],
  ]
  for (const [grants, state] of cases) {
    test(`with ${grants.length === 0 ? 'no grant' : `the grants ${grants.join(', ')}`} is ${state}`, () => {
      assert.equal(decideAgentState(grants), state)
      assert.equal(decideAgentState(grants.toReversed()), state)
    })
  }
})
