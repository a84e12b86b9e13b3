import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { listAuditActions, readAudit } from '../../../../test/support/context/audit.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { justProved, seedOwner, signUpPerson } from '../../../../test/support/context/people.ts'
import { openConnections } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Account } from '../accounts/account.ts'
import { createAccount } from '../accounts/create-account.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { RECENT_PROOF_MS } from '../require-recent-proof.ts'
import { addMember } from './add-member.ts'
import { changeRole, removeMember } from './change-membership.ts'
import { createWorkspace } from './create-workspace.ts'
import { getMembership, listMembers, listMemberships } from './queries.ts'
import { WORKSPACES_MAX } from './member.ts'
import { may, ROLES, type Right, type Role } from '../../values/role.ts'

describe('members', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('the creator of a workspace gets the role of owner', async () => {
    const { userId } = await signUpPerson(ctx, 'Ada')
    const { account, role, createdAt } = await createWorkspace(ctx, { userId, name: ' Acme ', plan: 'pro' })
    assert.deepEqual([account.name, account.plan, role], ['Acme', 'pro', 'owner'])
    assert.deepEqual(await listMembers(ctx, { accountId: account.id }), [{ userId, name: 'Ada', role, createdAt }])
    assert.deepEqual(await listMemberships(ctx, { userId }), [{ account, userId, role, createdAt, hasHeldKeys: false }])
    assert.deepEqual(await readAudit(ctx.db, account.id), [
      {
        actor_kind: 'user',
        actor_id: userId,
        action: 'workspace.created',
        subject: account.id,
        details: { slug: account.slug, name: 'Acme', plan: 'pro' },
      },
    ])
  })

  test('a workspace with a name that is not allowed is not created', async () => {
    const { userId } = await signUpPerson(ctx)
    for (const name of ['', ' ', 'x'.repeat(101), 'a\u0000b']) {
      await assert.rejects(createWorkspace(ctx, { userId, name }), { status: 400 })
    }
    assert.deepEqual(await listMemberships(ctx, { userId }), [])
  })

  test(`a user belongs to at most ${WORKSPACES_MAX} workspaces, even if the last ones are created at once`, async () => {
    const { userId } = await signUpPerson(ctx)
    for (let index = 0; index < WORKSPACES_MAX - 2; index += 1) await createWorkspace(ctx, { userId, name: 'Many' })
    await openConnections(ctx.db)
    const create = () => createWorkspace(ctx, { userId, name: 'Many' })
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, create))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2)
    const limit = { status: 409, code: 'workspace_limit_reached' }
    await assert.rejects(create(), limit)
    const account = await createAccount(ctx, { name: 'One more', plan: 'pro', actor: OPERATOR })
    await assert.rejects(addMember(ctx, { account, userId, role: 'viewer', actor: OPERATOR }), limit)
    assert.equal((await listMemberships(ctx, { userId })).length, WORKSPACES_MAX)
  })

  test('a user who is not a member cannot see a workspace; a member may do what the role allows', async () => {
    const account = await open()
    const stranger = await signUpPerson(ctx)
    const notFound = { status: 404, message: 'There is no workspace with this slug.' }
    const get = (userId: string, slug: string, right: Right) => getMembership(ctx, { userId, slug, right })
    await assert.rejects(get(stranger.userId, account.slug, 'read'), notFound)
    await assert.rejects(get(stranger.userId, 'no-such-workspace', 'read'), notFound)
    for (const role of ROLES) {
      const { userId } = await seedOwner(ctx, account, role)
      for (const right of ['read', 'manageMembers', 'manageOwners'] as const) {
        const asked = get(userId, account.slug, right)
        if (may(role, right)) assert.equal((await asked).role, role)
        else await assert.rejects(asked, { status: 403, code: 'role_insufficient' })
      }
    }
  })

  test('a member who is added again keeps the higher role and the time of joining', async () => {
    const account = await open()
    const { userId } = await signUpPerson(ctx)
    const add = (at: Context, role: Role) => addMember(at, { account, userId, role, actor: OPERATOR })
    const joined = await add(ctx, 'admin')
    assert.deepEqual(await add(later(ctx, 1_000), 'viewer'), joined)
    assert.deepEqual(await add(later(ctx, 1_000), 'admin'), joined)
    assert.deepEqual(await add(later(ctx, 1_000), 'owner'), { ...joined, role: 'owner' })
    const rows = await readAudit(ctx.db, account.id)
    const row = { actor_kind: 'operator', actor_id: null, subject: userId }
    assert.deepEqual(rows.slice(1), [
      { ...row, action: 'member.joined', details: { role: 'admin' } },
      { ...row, action: 'member.role_changed', details: { role: 'owner', before: 'admin' } },
    ])
  })

  test('allowed changes are made: roles change, members leave, and each is logged once', async () => {
    const account = await open()
    const [owner, viewer] = [await seedOwner(ctx, account), await seedOwner(ctx, account, 'viewer')]
    const membership = await member(account, owner.userId)
    await changeRole(ctx, { membership, session: justProved(ctx), userId: viewer.userId, role: 'admin' })
    await changeRole(ctx, { membership, session: justProved(ctx), userId: viewer.userId, role: 'admin' })
    assert.equal((await member(account, viewer.userId)).role, 'admin')
    await removeMember(ctx, { membership, session: justProved(ctx), userId: viewer.userId })
    await assert.rejects(member(account, viewer.userId), { status: 404 })
    await assert.rejects(removeMember(ctx, { membership, session: justProved(ctx), userId: viewer.userId }), {
      code: 'member_not_found',
    })
    const row = { actor_kind: 'user', actor_id: owner.userId, subject: viewer.userId }
    assert.deepEqual((await readAudit(ctx.db, account.id)).slice(3), [
      { ...row, action: 'member.role_changed', details: { role: 'admin', before: 'viewer' } },
      { ...row, action: 'member.removed', details: {} },
    ])
  })

  test('a change by a member who was demoted meanwhile is decided by the current role', async () => {
    const account = await open()
    const [first, second] = [await seedOwner(ctx, account), await seedOwner(ctx, account)]
    const [ofFirst, ofSecond] = [await member(account, first.userId), await member(account, second.userId)]
    await changeRole(ctx, { membership: ofFirst, session: justProved(ctx), userId: second.userId, role: 'viewer' })
    const refused = { status: 403, code: 'role_insufficient' }
    await assert.rejects(
      removeMember(ctx, { membership: ofSecond, session: justProved(ctx), userId: first.userId }),
      refused,
    )
    await removeMember(ctx, { membership: ofSecond, session: justProved(ctx), userId: second.userId })
    await assert.rejects(
      changeRole(ctx, { membership: ofSecond, session: justProved(ctx), userId: first.userId, role: 'viewer' }),
      refused,
    )
    await assert.rejects(removeMember(ctx, { membership: ofFirst, session: justProved(ctx), userId: first.userId }), {
      status: 409,
      code: 'last_owner',
    })
  })

  test('giving or taking the role of owner or admin needs a recent proof; changes among viewers do not', async () => {
    const account = await open()
    const [owner, other] = [await seedOwner(ctx, account), await seedOwner(ctx, account)]
    const [admin, viewer] = [await seedOwner(ctx, account, 'admin'), await seedOwner(ctx, account, 'viewer')]
    const membership = await member(account, owner.userId)
    const session = { verifiedAt: new Date(ctx.clock.now().getTime() - RECENT_PROOF_MS) }
    const change = (userId: string, role: Role) => changeRole(ctx, { membership, session, userId, role })
    const remove = (userId: string) => removeMember(ctx, { membership, session, userId })
    const refused = { status: 403, code: 'verification_required' }
    await assert.rejects(change(viewer.userId, 'admin'), refused)
    await assert.rejects(change(viewer.userId, 'owner'), refused)
    await assert.rejects(change(admin.userId, 'owner'), refused)
    for (const { userId } of [owner, other, admin]) {
      await assert.rejects(change(userId, 'viewer'), refused)
      await assert.rejects(remove(userId), refused)
    }
    await remove(viewer.userId)
    const roles = (await listMembers(ctx, { accountId: account.id })).map(({ role }) => role)
    assert.deepEqual(roles.toSorted(), ['admin', 'owner', 'owner'])
  })

  const departures: readonly (readonly [
    string,
    (ctx: Context, account: Account, userId: string) => Promise<unknown>,
  ])[] = [
    [
      'leave',
      async (at, account, userId) =>
        removeMember(at, { membership: await member(account, userId), session: justProved(at), userId }),
    ],
    [
      'step down',
      async (at, account, userId) =>
        changeRole(at, {
          membership: await member(account, userId),
          session: justProved(at),
          userId,
          role: 'viewer',
        }),
    ],
  ]
  for (const [what, depart] of departures) {
    test(`if both owners ${what} at once, over two processes, one always stays an owner`, async () => {
      const other = given.openAnother()
      await openConnections(ctx.db, other.db)
      for (let round = 0; round < 10; round += 1) {
        const account = await open()
        const owners = [await seedOwner(ctx, account), await seedOwner(ctx, account)]
        const outcomes = await Promise.allSettled(
          owners.map(({ userId }, index) => depart(index === 0 ? ctx : other, account, userId)),
        )
        const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as object] : []))
        assert.deepEqual(
          refused.map((reason) => (reason as { code: string }).code),
          ['last_owner'],
        )
        const left = await listMembers(ctx, { accountId: account.id })
        assert.equal(left.filter(({ role }) => role === 'owner').length, 1)
        assert.equal((await listAuditActions(ctx.db, account.id)).length, 4)
      }
    })
  }

  test('if two owners remove each other at once, one stays', async () => {
    await openConnections(ctx.db)
    for (let round = 0; round < 5; round += 1) {
      const account = await open()
      const owners = [await seedOwner(ctx, account), await seedOwner(ctx, account)] as const
      const [first, second] = [await member(account, owners[0].userId), await member(account, owners[1].userId)]
      const outcomes = await Promise.allSettled([
        removeMember(ctx, { membership: first, session: justProved(ctx), userId: second.userId }),
        removeMember(ctx, { membership: second, session: justProved(ctx), userId: first.userId }),
      ])
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal((await listMembers(ctx, { accountId: account.id })).length, 1)
    }
  })

  function open(): Promise<Account> {
    return createAccount(ctx, { name: 'Acme', plan: 'developer', actor: OPERATOR })
  }

  function member({ slug }: Account, userId: string) {
    return getMembership(ctx, { userId, slug, right: 'read' })
  }
})
