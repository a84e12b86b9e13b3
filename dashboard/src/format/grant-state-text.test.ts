import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GrantState } from '@bursar/server/src/console/contract/grants.ts'
import {
  explainGrantState,
  formatCreator,
  formatWaitsFor,
  GRANT_GROUPS,
  GRANT_STATE_LABELS,
  isInGroup,
} from './grant-state-text.ts'

const STATES = Object.keys(GRANT_STATE_LABELS) as GrantState[]
const SIGNED = { status: 'active', replaces: null, activated_at: '2026-11-12T12:00:00.000Z' } as const

test('every state is in exactly one group', () => {
  for (const state of STATES) {
    const groups = GRANT_GROUPS.filter((group) => isInGroup({ state }, group))
    assert.equal(groups.length, 1, state)
  }
})

test('every state has its own explanation', () => {
  const rows = [
    ...STATES.map((state) => ({ state, ...SIGNED })),
    { state: 'pending', status: 'pending', replaces: 'grt_1', activated_at: null } as const,
    { state: 'expired', status: 'pending', replaces: null, activated_at: null } as const,
    { state: 'revoked', status: 'revoked', replaces: null, activated_at: null } as const,
  ]
  const texts = rows.map((row) => explainGrantState(row))
  assert.equal(new Set(texts).size, rows.length)
})

test('a grant that waits for a signature says who can sign it, and who prepared it', () => {
  const waits = [
    { is_mine_to_sign: true, other_signers: [] },
    { is_mine_to_sign: true, other_signers: ['Ada'] },
    { is_mine_to_sign: false, other_signers: ['Ada', 'Bob'] },
    { is_mine_to_sign: false, other_signers: [] },
  ]
  assert.deepEqual(waits.map(formatWaitsFor), ['You', 'You or Ada', 'Ada or Bob', 'Nobody who can sign'])
  const creators = [
    { created_by: 'Ada', by_former_member: false },
    { created_by: 'Ada', by_former_member: true },
    { created_by: null, by_former_member: false },
  ]
  assert.deepEqual(creators.map(formatCreator), ['Ada', 'Ada (former member)', 'Not recorded'])
})
