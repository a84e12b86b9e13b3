import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { prepareSandbox } from '../support/sandbox/prepared-sandbox.ts'
import { openRestoreFixture, type RestoreFixture } from '../support/restore/restore-fixture.ts'
import { runRestore } from '../support/restore/run-restore.ts'
import type { GroupOptions } from '../support/restore/scene.ts'

const GROUPS: readonly GroupOptions[] = [
  { answers: 'kept', references: 'collide', capped: ['transfer'] },
  { answers: 'kept', references: 'allow', capped: ['unkeyed'] },
  { answers: 'gone', references: 'collide', capped: ['purchase'] },
  { answers: 'gone', references: 'allow', capped: ['transfer'] },
]

describe('a database that is restored as it was before the last payments', () => {
  let fixture: RestoreFixture
  before(async () => {
    fixture = await openRestoreFixture({ prepared: await prepareSandbox(), memory: 'large' })
  })
  after(() => fixture.close())

  test('no repeated request pays again, each answer names the payment that was made, and the limits count it', async () => {
    const { counts, violations } = await runRestore(fixture, {
      groups: GROUPS,
      ...{ kept: 10, lost: 10, buyers: 1, clients: 20, seed: 7 },
    })
    assert.deepEqual(violations, [])
    assert.deepEqual([counts.second_transfers, counts.paid_others, counts.over_cap_micro], [0, 0, 0])
  })
})
