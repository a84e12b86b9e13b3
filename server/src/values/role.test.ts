import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { isAtLeast, may, mayManage, RIGHTS, ROLES, toRole, type Right } from './role.ts'

const NAMES = Object.keys(RIGHTS) as Right[]
const DASHBOARD_PAGE = new URL('../../../docs/site/pages/dashboard.md', import.meta.url)

describe('roles', () => {
  test('an owner may do what an admin may, and an admin what a viewer may', () => {
    const allowed = ROLES.map((role) => ROLES.filter((other) => isAtLeast(role, other)))
    assert.deepEqual(allowed, [['owner', 'admin', 'viewer'], ['admin', 'viewer'], ['viewer']])
  })

  test('a viewer reads and leaves, and only an owner manages the workspace and owners, and confirms held keys', () => {
    const lacks = ROLES.map((role) => NAMES.filter((right) => !may(role, right)))
    const ofOwners = ['manageWorkspace', 'manageOwners', 'confirmHeldKeys']
    assert.deepEqual(lacks, [[], ofOwners, NAMES.filter((right) => right !== 'read' && right !== 'leave')])
  })

  test('the documentation has a row for each right, with the roles that have it', () => {
    const rows = [...readFileSync(DASHBOARD_PAGE, 'utf8').matchAll(/^\|[^|]+\|((?: +(?:yes|no) +\|){3})$/gm)]
    const told = rows.map(([, cells = '']) => cells.match(/yes|no/g))
    assert.deepEqual(
      told,
      NAMES.map((right) => ROLES.map((role) => (may(role, right) ? 'yes' : 'no'))),
    )
  })

  test('an owner may manage every role, an admin every role but owner, a viewer none', () => {
    const allowed = ROLES.map((role) => ROLES.filter((other) => mayManage(role, other)))
    assert.deepEqual(allowed, [['owner', 'admin', 'viewer'], ['admin', 'viewer'], []])
  })

  test('an unknown role is rejected', () => {
    for (const text of ['', 'Owner', 'toString']) assert.throws(() => toRole(text), /unknown role/)
  })
})
