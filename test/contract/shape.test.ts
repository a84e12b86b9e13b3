import assert from 'node:assert/strict'
import { test } from 'node:test'
import { either, findFaults, integer, list, members, nullable, oneOf, text } from './shape.ts'

const shape = members({ id: text(/^[a-z]+$/), count: nullable(integer) }, { kinds: list(oneOf('a', 'b'), 2) })

test('a body with the right shape has no faults', () => {
  assert.deepEqual(findFaults(shape, { id: 'x', count: null }), [])
  assert.deepEqual(findFaults(shape, { id: 'x', count: 1, kinds: ['a'] }), [])
  assert.deepEqual(findFaults(either(integer, text()), 'x'), [])
})

for (const [name, body] of [
  ['an unknown member', { id: 'x', count: 1, more: 1 }],
  ['a missing member', { id: 'x' }],
  ['a text that does not match', { id: '1', count: 1 }],
  ['a fraction', { id: 'x', count: 1.5 }],
  ['a word that is not allowed', { id: 'x', count: 1, kinds: ['c'] }],
  ['a list that is too long', { id: 'x', count: 1, kinds: ['a', 'a', 'a'] }],
  ['a list instead of an object', []],
  ['null', null],
] as const) {
  test(`${name} is a fault`, () => {
    assert.equal(findFaults(shape, body).length, 1)
  })
}
