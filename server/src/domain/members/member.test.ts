import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideMemberChange, type MemberChange } from './member.ts'

describe('decideMemberChange', () => {
  const REST = { isOwn: false, owners: 2 }
  type Case = readonly [who: string, change: Partial<MemberChange>, refusal: string | null]
  const cases: readonly Case[] = [
    ['an owner raises a viewer to owner', { actor: 'owner', target: 'viewer', next: 'owner' }, null],
    ['an owner lowers another owner', { actor: 'owner', target: 'owner', next: 'viewer' }, null],
    ['an owner removes another owner', { actor: 'owner', target: 'owner', next: null }, null],
    ['an owner removes the only owner', { actor: 'owner', target: 'owner', next: null, owners: 1 }, 'last_owner'],
    ['an owner keeps the only owner one', { actor: 'owner', target: 'owner', next: 'owner', owners: 1 }, null],
    ['an admin raises a viewer to admin', { actor: 'admin', target: 'viewer', next: 'admin' }, null],
    ['an admin lowers an admin', { actor: 'admin', target: 'admin', next: 'viewer' }, null],
    ['an admin removes an admin', { actor: 'admin', target: 'admin', next: null }, null],
    ['an admin makes an owner', { actor: 'admin', target: 'viewer', next: 'owner' }, 'role_insufficient'],
    ['an admin lowers an owner', { actor: 'admin', target: 'owner', next: 'viewer' }, 'role_insufficient'],
    ['an admin removes an owner', { actor: 'admin', target: 'owner', next: null }, 'role_insufficient'],
    [
      'an admin makes himself an owner',
      { actor: 'admin', target: 'admin', next: 'owner', isOwn: true },
      'role_insufficient',
    ],
    ['a viewer removes a viewer', { actor: 'viewer', target: 'viewer', next: null }, 'role_insufficient'],
    [
      'a viewer makes himself an admin',
      { actor: 'viewer', target: 'viewer', next: 'admin', isOwn: true },
      'role_insufficient',
    ],
    ['a viewer leaves', { actor: 'viewer', target: 'viewer', next: null, isOwn: true }, null],
    ['an owner leaves others behind', { actor: 'owner', target: 'owner', next: null, isOwn: true }, null],
    ['the only owner leaves', { actor: 'owner', target: 'owner', next: null, isOwn: true, owners: 1 }, 'last_owner'],
    [
      'the only owner steps down',
      { actor: 'owner', target: 'owner', next: 'admin', isOwn: true, owners: 1 },
      'last_owner',
    ],
    ['who is no member any more manages', { actor: null, target: 'viewer', next: null }, 'role_insufficient'],
    ['who is no member any more leaves', { actor: null, target: null, next: null, isOwn: true }, 'member_not_found'],
    ['an admin removes nobody', { actor: 'admin', target: null, next: null }, 'member_not_found'],
    ['an owner raises nobody', { actor: 'owner', target: null, next: 'owner' }, 'member_not_found'],
    ['a viewer removes nobody', { actor: 'viewer', target: null, next: null }, 'role_insufficient'],
  ]
  for (const [who, change, refusal] of cases) {
    test(`${who}: ${refusal ?? 'allowed'}`, () => {
      assert.equal(decideMemberChange({ actor: null, target: null, next: null, ...REST, ...change }), refusal)
    })
  }
})
