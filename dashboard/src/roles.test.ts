import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAdmin, rolesToGive } from './roles.ts'

test('an owner gives every role, an admin all but the owner’s, a viewer none', () => {
  assert.deepEqual(rolesToGive('owner'), ['viewer', 'admin', 'owner'])
  assert.deepEqual(rolesToGive('admin'), ['viewer', 'admin'])
  assert.deepEqual(rolesToGive('viewer'), [])
})

test('owners and admins act, viewers look', () => {
  assert.deepEqual((['owner', 'admin', 'viewer'] as const).map(isAdmin), [true, true, false])
})
