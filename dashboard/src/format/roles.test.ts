import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assignableRoles } from './roles.ts'

test('an owner can assign every role, an admin every role but owner, a viewer none', () => {
  assert.deepEqual(assignableRoles('owner'), ['viewer', 'admin', 'owner'])
  assert.deepEqual(assignableRoles('admin'), ['viewer', 'admin'])
  assert.deepEqual(assignableRoles('viewer'), [])
})
