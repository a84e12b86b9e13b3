import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listEndedByMove } from './ended-grants.ts'

const MOVED_AT = '2026-11-22T12:00:00.000Z'
const LATER = '2026-11-22T13:00:00.000Z'
const ENDED = {
  agent_id: 'bot',
  status: 'revoked',
  replaced_by: null,
  activated_at: '2026-11-01T12:00:00.000Z',
  revoked_at: MOVED_AT,
  expires_at: null,
} as const

test('only grants that the move has ended can be opened again', () => {
  const rows = [
    ['ended by the move', [ENDED], 1],
    ['revoked at another time', [{ ...ENDED, revoked_at: LATER }], 0],
    ['replaced at the same time', [{ ...ENDED, replaced_by: 'grt_1' }], 0],
    ['never signed', [{ ...ENDED, activated_at: null }], 0],
    ['expired meanwhile', [{ ...ENDED, expires_at: MOVED_AT }], 0],
    ['with an end date ahead', [{ ...ENDED, expires_at: '2027-01-01T00:00:00.000Z' }], 1],
    ['opened again', [ENDED, { ...ENDED, status: 'pending', revoked_at: null }], 0],
    ['of two agents, one opened again', [ENDED, { ...ENDED, agent_id: 'b' }, { ...ENDED, status: 'active' }], 1],
  ] as const
  for (const [name, grants, count] of rows) {
    assert.equal(listEndedByMove([...grants], [{ added_at: MOVED_AT }], Date.parse(LATER)).length, count, name)
  }
  assert.deepEqual(listEndedByMove([ENDED], [{ added_at: LATER }], Date.parse(LATER)), [])
})
