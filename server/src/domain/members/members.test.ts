import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { listAuditActions, readAudit } from '../../../../test/support/context/audit.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { justProved, seedOwner, signUpPerson } from '../../../../test/support/context/people.ts'
import { openConnections } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
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
    const { workspace, role, createdAt } = await createWorkspace(ctx, { userId, name: ' Acme ', plan: 'pro' })
    assert.deepEqual([workspace.name, workspace.plan, role], ['Acme', 'pro', 'owner'])
    assert.deepEqual(await listMembers(ctx, { workspaceId: workspace.id }), [{ userId, name: 'Ada', role, createdAt }])
    assert.deepEqual(await listMemberships(ctx, { userId }), [
      { workspace, userId, role, createdAt, hasHeldKeys: false },
    ])
    assert.deepEqual(await readAudit(ctx.db, workspace.id), [
      {
        actor_kind: 'user',
        actor_id: userId,
        action: 'workspace.created',
        subject: workspace.id,
        details: { slug: workspace.slug, name: 'Acme', plan: 'pro' },
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
    const workspace = await createEmptyWorkspace(ctx, { name: 'One more', plan: 'pro', actor: OPERATOR })
    await assert.rejects(addMember(ctx, { workspace, userId, role: 'viewer', actor: OPERATOR }), limit)
    assert.equal((await listMemberships(ctx, { userId })).length, WORKSPACES_MAX)
  })

  test('a user who is not a member cannot see a workspace; a member may do what the role allows', async () => {
    const workspace = await open()
    const stranger = await signUpPerson(ctx)
    const notFound = { status: 404, message: 'There is no workspace with this slug.' }
    const get = (userId: string, slug: string, right: Right) => getMembership(ctx, { userId, slug, right })
    await assert.rejects(get(stranger.userId, workspace.slug, 'read'), notFound)
    await assert.rejects(get(stranger.userId, 'no-such-workspace', 'read'), notFound)
    for (const role of ROLES) {
      const { userId } = await seedOwner(ctx, workspace, role)
      for (const right of ['read', 'manageMembers', 'manageOwners'] as const) {
        const asked = get(userId, workspace.slug, right)
        if (may(role, right)) assert.equal((await asked).role, role)
        else await assert.rejects(asked, { status: 403, code: 'role_insufficient' })
      }
    }
  })

  test('a member who is added again keeps the higher role and the time of joining', async () => {
    const workspace = await open()
    const { userId } = await signUpPerson(ctx)
    const add = (at: Context, role: Role) => addMember(at, { workspace, userId, role, actor: OPERATOR })
    const joined = await add(ctx, 'admin')
    assert.deepEqual(await add(later(ctx, 1_000), 'viewer'), joined)
    assert.deepEqual(await add(later(ctx, 1_000), 'admin'), joined)
    assert.deepEqual(await add(later(ctx, 1_000), 'owner'), { ...joined, role: 'owner' })
    const rows = await readAudit(ctx.db, workspace.id)
    const row = { actor_kind: 'operator', actor_id: null, subject: userId }
    assert.deepEqual(rows.slice(1), [
      { ...row, action: 'member.joined', details: { role: 'admin' } },
      { ...row, action: 'member.role_changed', details: { role: 'owner', before: 'admin' } },
    ])
  })

  test('allowed changes are made: roles change, members leave, and each is logged once', async () => {
    const workspace = await open()
    const [owner, viewer] = [await seedOwner(ctx, workspace), await seedOwner(ctx, workspace, 'viewer')]
    const membership = await member(workspace, owner.userId)
    await changeRole(ctx, { membership, session: justProved(ctx), userId: viewer.userId, role: 'admin' })
    await changeRole(ctx, { membership, session: justProved(ctx), userId: viewer.userId, role: 'admin' })
    assert.equal((await member(workspace, viewer.userId)).role, 'admin')
    await removeMember(ctx, { membership, session: justProved(ctx), userId: viewer.userId })
    await assert.rejects(member(workspace, viewer.userId), { status: 404 })
    await assert.rejects(removeMember(ctx, { membership, session: justProved(ctx), userId: viewer.userId }), {
      code: 'member_not_found',
    })
    const row = { actor_kind: 'user', actor_id: owner.userId, subject: viewer.userId }
    assert.deepEqual((await readAudit(ctx.db, workspace.id)).slice(3), [
      { ...row, action: 'member.role_changed', details: { role: 'admin', before: 'viewer' } },
      { ...row, action: 'member.removed', details: {} },
    ])
  })

  test('a change by a member who was demoted meanwhile is decided by the current role', async () => {
    const workspace = await open()
    const [first, second] = [await seedOwner(ctx, workspace), await seedOwner(ctx, workspace)]
    const [ofFirst, ofSecond] = [await member(workspace, first.userId), await member(workspace, second.userId)]
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
    const workspace = await open()
    const [owner, other] = [await seedOwner(ctx, workspace), await seedOwner(ctx, workspace)]
    const [admin, viewer] = [await seedOwner(ctx, workspace, 'admin'), await seedOwner(ctx, workspace, 'viewer')]
    const membership = await member(workspace, owner.userId)
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
    const roles = (await listMembers(ctx, { workspaceId: workspace.id })).map(({ role }) => role)
    assert.deepEqual(roles.toSorted(), ['admin', 'owner', 'owner'])
  })

  const departures: readonly (readonly [
    string,
    (ctx: Context, workspace: Workspace, userId: string) => Promise<unknown>,
  ])[] = [
    [
      'leave',
      async (at, workspace, userId) =>
        removeMember(at, { membership: await member(workspace, userId), session: justProved(at), userId }),
    ],
    [
      'step down',
      async (at, workspace, userId) =>
        changeRole(at, {
          membership: await member(workspace, userId),
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
        const workspace = await open()
        const owners = [await seedOwner(ctx, workspace), await seedOwner(ctx, workspace)]
        const outcomes = await Promise.allSettled(
          owners.map(({ userId }, index) => depart(index === 0 ? ctx : other, workspace, userId)),
        )
        const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as object] : []))
        assert.deepEqual(
          refused.map((reason) => (reason as { code: string }).code),
          ['last_owner'],
        )
        const left = await listMembers(ctx, { workspaceId: workspace.id })
        assert.equal(left.filter(({ role }) => role === 'owner').length, 1)
        assert.equal((await listAuditActions(ctx.db, workspace.id)).length, 4)
      }
    })
  }

  test('if two owners remove each other at once, one stays', async () => {
    await openConnections(ctx.db)
    for (let round = 0; round < 5; round += 1) {
      const workspace = await open()
      const owners = [await seedOwner(ctx, workspace), await seedOwner(ctx, workspace)] as const
      const [first, second] = [await member(workspace, owners[0].userId), await member(workspace, owners[1].userId)]
      const outcomes = await Promise.allSettled([
        removeMember(ctx, { membership: first, session: justProved(ctx), userId: second.userId }),
        removeMember(ctx, { membership: second, session: justProved(ctx), userId: first.userId }),
      ])
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal((await listMembers(ctx, { workspaceId: workspace.id })).length, 1)
    }
  })

  function open(): Promise<Workspace> {
    return createEmptyWorkspace(ctx, { name: 'Acme', plan: 'developer', actor: OPERATOR })
  }

  function member({ slug }: Workspace, userId: string) {
    return getMembership(ctx, { userId, slug, right: 'read' })
  }
})
