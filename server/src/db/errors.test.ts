import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DatabaseError } from 'pg'
import { violatesCheck, violatesUnique } from './errors.ts'

const INDEX = 'payments_by_idempotency_key'
const duplicate = (index: string): string => `duplicate key value violates unique constraint "${index}"`

describe('violatesUnique', () => {
  for (const [what, fields, expected] of [
    ['an error of PostgreSQL', { code: '23505', constraint: INDEX }, true],
    ['an error of another index', { code: '23505', constraint: `${INDEX}_2` }, false],
    ['another error that names the index', { code: '23514', constraint: INDEX }, false],
    ['an error of a worker of Citus', { code: '23505', message: duplicate(`${INDEX}_102042`) }, true],
    ['an error of a worker to which Citus copies rows', { code: 'XX000', message: duplicate(`${INDEX}_102042`) }, true],
    ['an error of another index on a worker', { code: '23505', message: duplicate(`other_${INDEX}_102042`) }, false],
    ['an error without a constraint', { code: '40001' }, false],
  ] as const) {
    test(`${expected ? 'accepts' : 'rejects'} ${what}`, () => {
      assert.equal(violatesUnique(Object.assign(new DatabaseError('', 0, 'error'), fields), INDEX), expected)
    })
  }
})

test('violatesCheck accepts an error of a worker of Citus, whose name of the constraint has no number', () => {
  const message = 'new row for relation "stored_bytes_102042" violates check constraint "stored_bytes_budget"'
  const error = Object.assign(new DatabaseError(message, 0, 'error'), { code: '23514' })
  assert.equal(violatesCheck(error, 'stored_bytes_budget'), true)
  assert.equal(violatesCheck(error, 'stored_bytes'), false)
})
