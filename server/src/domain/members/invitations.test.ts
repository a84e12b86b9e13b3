import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { listAuditActions, readAudit } from '../../../../test/support/context/audit.ts'
import { frozenAt } from '../../../../test/support/context/moved-clock.ts'
import { justProved, seedOwner, signUpPerson } from '../../../../test/support/context/people.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import type { ProvenActor } from '../require-recent-proof.ts'
import { acceptInvitation } from './accept-invitation.ts'
import { changeRole, removeMember } from './change-membership.ts'
import { createInvitation, type InvitationRequest } from './create-invitation.ts'
import { createWorkspace } from './create-workspace.ts'
import { getInvitation, getMembership, listInvitations, listMembers } from './queries.ts'
import { INVITATION_MS, INVITATIONS_MAX } from './invitation.ts'
import { WORKSPACES_MAX } from './member.ts'
import { revokeInvitation } from './revoke-invitation.ts'
import { ROLES, type Role } from '../../values/role.ts'

const NOT_FOUND = { status: 404, code: 'invitation_not_found' }

describe('invitations', () => {
  let given: TestContext
  let ctx: Context
  let workspace: Workspace
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('an invitation shows its workspace and role, and makes the first user who accepts it a member', async () => {
    workspace = await open()
    const owner = await seedOwner(ctx, workspace)
    const { invitation, secret } = await invite({ actor: user(owner.userId), role: 'admin' })
    assert.deepEqual(await getInvitation(ctx, { secret }), { invitation, workspace, invitedBy: 'Ada' })
    assert.deepEqual(await listInvitations(ctx, { workspaceId: workspace.id }), [invitation])
    const [guest, late] = [await signUpPerson(ctx), await signUpPerson(ctx)]
    const membership = await accept(secret, guest.userId)
    assert.deepEqual([membership.role, membership.workspace], ['admin', workspace])
    assert.deepEqual(
      await getMembership(ctx, { userId: guest.userId, slug: workspace.slug, right: 'manageMembers' }),
      membership,
    )
    await assert.rejects(getInvitation(ctx, { secret }), NOT_FOUND)
    await assert.rejects(accept(secret, late.userId), NOT_FOUND)
    assert.deepEqual(await listInvitations(ctx, { workspaceId: workspace.id }), [])
    const rows = (await readAudit(ctx.db, workspace.id)).slice(2)
    const expires_at = invitation.expiresAt.toISOString()
    assert.deepEqual(rows, [
      {
        actor_kind: 'user',
        actor_id: owner.userId,
        action: 'invitation.created',
        subject: invitation.id,
        details: { role: 'admin', uses: 1, expires_at },
      },
      {
        actor_kind: 'user',
        actor_id: guest.userId,
        action: 'member.joined',
        subject: guest.userId,
        details: { role: 'admin', invitation: invitation.id },
      },
    ])
  })

  test('of 20 users who accept an invitation with one use at once, over two processes, one joins', async () => {
    workspace = await open()
    const { secret } = await invite()
    const people = await Promise.all(Array.from({ length: 20 }, () => signUpPerson(ctx)))
    const other = given.openAnother()
    await openConnections(ctx.db, other.db)
    const outcomes = await Promise.allSettled(
      people.map(({ userId }, index) => acceptInvitation(index % 2 === 0 ? ctx : other, { secret, userId })),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.equal((outcome.reason as { code: string }).code, NOT_FOUND.code)
    }
    assert.equal((await listMembers(ctx, { workspaceId: workspace.id })).length, 1)
    const actions = await listAuditActions(ctx.db, workspace.id)
    assert.deepEqual(actions, ['workspace.created', 'invitation.created', 'member.joined'])
  })

  test('an invitation with three uses lets three users join; a user who accepts it ten times at once counts once', async () => {
    workspace = await open()
    const { secret, invitation } = await invite({ usesMax: 3 })
    const { userId } = await signUpPerson(ctx)
    await openConnections(ctx.db)
    await Promise.all(Array.from({ length: 10 }, () => accept(secret, userId)))
    const usesLeft = async () => (await listInvitations(ctx, { workspaceId: workspace.id }))[0]?.usesLeft
    assert.equal(await usesLeft(), 2)
    const people = await Promise.all(Array.from({ length: 8 }, () => signUpPerson(ctx)))
    const outcomes = await Promise.allSettled(people.map((person) => accept(secret, person.userId)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2)
    assert.equal((await listMembers(ctx, { workspaceId: workspace.id })).length, 3)
    assert.equal(await usesLeft(), undefined)
    const rows = await readRows(ctx.db, 'select uses_left from invitations where id = $1', [invitation.id])
    assert.equal(rows[0]?.['uses_left'], 0)
  })

  test('a member with that role or a higher one does not use an invitation up; a lower role is raised', async () => {
    workspace = await open()
    const { userId } = await seedOwner(ctx, workspace, 'admin')
    const roles: readonly (readonly [Role, Role, number])[] = [
      ['viewer', 'admin', 1],
      ['admin', 'admin', 1],
      ['owner', 'owner', 0],
    ]
    for (const [invited, role, usesLeft] of roles) {
      const { secret, invitation } = await invite({ role: invited })
      assert.equal((await accept(secret, userId)).role, role)
      const rows = await readRows(ctx.db, 'select uses_left from invitations where id = $1', [invitation.id])
      assert.equal(rows[0]?.['uses_left'], usesLeft, invited)
    }
    const last = (await readAudit(ctx.db, workspace.id)).at(-1)
    assert.equal(last?.['action'], 'member.role_changed')
  })

  test('an invitation expires after exactly 7 days', async () => {
    workspace = await open()
    const { secret, invitation } = await invite({ usesMax: 2 })
    const [first, second] = [await signUpPerson(ctx), await signUpPerson(ctx)]
    const end = invitation.createdAt.getTime() + INVITATION_MS
    const at = (time: number) => frozenAt(ctx, new Date(time))
    await acceptInvitation(at(end - 1), { secret, userId: first.userId })
    await assert.rejects(acceptInvitation(at(end), { secret, userId: second.userId }), NOT_FOUND)
    await assert.rejects(getInvitation(at(end), { secret }), NOT_FOUND)
    assert.deepEqual(await listInvitations(at(end), { workspaceId: workspace.id }), [])
    const { secret: short } = await invite({ lifetimeMs: 1 })
    await assert.rejects(acceptInvitation(at(end), { secret: short, userId: second.userId }), NOT_FOUND)
  })

  test('a revoked invitation cannot be accepted, and can be revoked only once', async () => {
    workspace = await open()
    const { secret, invitation } = await invite({ usesMax: 5 })
    const { userId } = await signUpPerson(ctx)
    const revoke = (workspaceId: string, id = invitation.id) =>
      revokeInvitation(ctx, { workspaceId, id, actor: OPERATOR })
    await assert.rejects(revoke((await open()).id), NOT_FOUND)
    for (const id of ['', 'inv_', `${invitation.id}x`]) await assert.rejects(revoke(workspace.id, id), NOT_FOUND)
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => revoke(workspace.id)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    await assert.rejects(accept(secret, userId), NOT_FOUND)
    await assert.rejects(getInvitation(ctx, { secret }), NOT_FOUND)
    const actions = await listAuditActions(ctx.db, workspace.id)
    assert.deepEqual(actions, ['workspace.created', 'invitation.created', 'invitation.revoked'])
  })

  test('a text that was never an invitation is rejected', async () => {
    const { userId } = await signUpPerson(ctx)
    for (const secret of ['', 'svc_inv_', createSecret(SECRET_PREFIXES.invitation), createSecret('svc_ses_')]) {
      await assert.rejects(getInvitation(ctx, { secret }), NOT_FOUND)
      await assert.rejects(accept(secret, userId), NOT_FOUND)
    }
  })

  test('a member invites to their own role or a lower one; viewers and others cannot invite', async () => {
    workspace = await open()
    const allowed: Record<Role, Role[]> = { owner: [...ROLES], admin: ['admin', 'viewer'], viewer: [] }
    const refused = { status: 403, code: 'role_insufficient' }
    for (const role of ROLES) {
      const { userId } = await seedOwner(ctx, workspace, role)
      for (const invited of ROLES) {
        const asked = invite({ actor: user(userId), role: invited })
        if (allowed[role].includes(invited)) assert.equal((await asked).invitation.role, invited)
        else await assert.rejects(asked, refused)
      }
    }
    const { userId } = await signUpPerson(ctx)
    await assert.rejects(invite({ actor: user(userId) }), refused)
  })

  test('a member who is demoted or removed cannot come back through their own invitation', async () => {
    workspace = await open()
    const [owner, second] = [await seedOwner(ctx, workspace), await seedOwner(ctx, workspace)]
    const actor = user(second.userId)
    const made = new Map<Role, string>()
    for (const role of ROLES) made.set(role, (await invite({ actor, role })).secret)
    const ofOwner = await invite({ actor: user(owner.userId) })
    const isOpen = async (role: Role) =>
      await getInvitation(ctx, { secret: made.get(role) ?? '' }).then(
        () => true,
        () => false,
      )
    const membership = await getMembership(ctx, { userId: owner.userId, slug: workspace.slug, right: 'manageOwners' })
    await changeRole(ctx, { membership, session: justProved(ctx), userId: second.userId, role: 'admin' })
    assert.deepEqual(await Promise.all(ROLES.map(isOpen)), [false, true, true])
    await removeMember(ctx, { membership, session: justProved(ctx), userId: second.userId })
    assert.deepEqual(await Promise.all(ROLES.map(isOpen)), [false, false, false])
    await getInvitation(ctx, ofOwner)
    const revoked = (await listAuditActions(ctx.db, workspace.id)).filter((action) => action === 'invitation.revoked')
    assert.equal(revoked.length, 3)
  })

  test(`a workspace has at most ${INVITATIONS_MAX} open invitations, even if the last ones are created at once`, async () => {
    workspace = await open()
    for (let index = 0; index < INVITATIONS_MAX - 2; index += 1) await invite()
    await openConnections(ctx.db)
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => invite()))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2)
    await assert.rejects(invite(), { status: 409, code: 'invitation_limit_reached' })
    const [first] = await listInvitations(ctx, { workspaceId: workspace.id })
    await revokeInvitation(ctx, { workspaceId: workspace.id, id: first?.id ?? '', actor: OPERATOR })
    await invite()
  })

  test('a number of uses or a lifetime out of range is rejected', async () => {
    workspace = await open()
    const faults: readonly Partial<InvitationRequest>[] = [
      { usesMax: 0 },
      { usesMax: 101 },
      { usesMax: 1.5 },
      { lifetimeMs: 0 },
      { lifetimeMs: Number.NaN },
      { lifetimeMs: 30 * 86_400_000 + 1 },
    ]
    for (const fault of faults) await assert.rejects(invite(fault), { status: 400, type: 'validation_failed' })
  })

  test('a user who has reached the limit of workspaces cannot join, and does not use the invitation up', async () => {
    workspace = await open()
    const { secret } = await invite()
    const [full, other] = [await signUpPerson(ctx), await signUpPerson(ctx)]
    for (let index = 0; index < WORKSPACES_MAX; index += 1) {
      await createWorkspace(ctx, { userId: full.userId, name: 'Many' })
    }
    await assert.rejects(accept(secret, full.userId), { status: 409, code: 'workspace_limit_reached' })
    assert.equal((await accept(secret, other.userId)).role, 'viewer')
  })

  test('a user who may join one more workspace and accepts four invitations at once joins one', async () => {
    const { userId } = await signUpPerson(ctx)
    for (let index = 1; index < WORKSPACES_MAX; index += 1) await createWorkspace(ctx, { userId, name: 'Many' })
    const secrets: string[] = []
    for (let index = 0; index < 4; index += 1) {
      workspace = await open()
      secrets.push((await invite()).secret)
    }
    await openConnections(ctx.db)
    const outcomes = await Promise.allSettled(secrets.map((secret) => accept(secret, userId)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  test("only the hash of an invitation's secret is stored", async () => {
    workspace = await open()
    const { secret } = await invite()
    const rows = await readRows(
      ctx.db,
      'select invitations::text as row from invitations union all select audit_entries::text from audit_entries',
    )
    for (const row of rows) {
      for (const text of [secret, Buffer.from(secret).toString('hex')]) assert.ok(!String(row['row']).includes(text))
    }
  })

  function open(): Promise<Workspace> {
    return createEmptyWorkspace(ctx, { name: 'Acme', plan: 'developer', actor: OPERATOR })
  }

  function invite(changes: Partial<InvitationRequest> = {}) {
    return createInvitation(ctx, { workspace, role: 'viewer', actor: OPERATOR, ...changes })
  }

  function accept(secret: string, userId: string) {
    return acceptInvitation(ctx, { secret, userId })
  }

  function user(id: string): ProvenActor {
    return { kind: 'user', id, ...justProved(ctx) }
  }
})
