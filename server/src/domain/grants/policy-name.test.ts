import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { policyName } from './policy-name.ts'

test('the name tells the agent', () => {
  assert.equal(policyName('trader-7'), 'agent trader-7')
})

test('a name has less than 50 UTF-16 units, is never cut inside a character, and ends in no white space', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }), (id) => {
      const name = policyName(id)
      assert.ok(name.length < 50)
      assert.ok(name.isWellFormed())
      assert.equal(name, name.trim())
      assert.ok(`agent ${id}`.startsWith(name))
    }),
  )
})

test('an id that fits is not cut', () => {
  assert.equal(policyName('a'.repeat(43)), `agent ${'a'.repeat(43)}`)
  assert.equal(policyName('a'.repeat(44)), `agent ${'a'.repeat(43)}`)
})
