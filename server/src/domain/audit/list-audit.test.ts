import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  justProved,
  makePasskey,
  seedOwner,
  signInPerson,
  signUpMember,
  signUpPerson,
  toBytes,
  type Person,
} from '../../../../test/support/context/people.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { actionsOf, OPERATOR } from './audit-entry.ts'
import type { Context } from '../context.ts'
import { addMember } from '../members/add-member.ts'
import { addPasskey } from '../passkeys/add-passkey.ts'
import { createInvitation } from '../members/create-invitation.ts'
import { getMembership } from '../members/queries.ts'
import { listAudit, type AuditFilter } from './list-audit.ts'
import { listPasskeys } from '../passkeys/queries.ts'
import { openPasskeyRegistration } from '../passkeys/open-passkey-registration.ts'
import { removeMember } from '../members/change-membership.ts'

describe('the audit log', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test("a workspace's log contains what happened in it and the sign-ins of its members, newest first, in pages", async () => {
    const [workspace, elsewhere] = [await open(), await open()]
    const member = await seedOwner(ctx, workspace)
    await seedOwner(ctx, elsewhere)
    await signInPerson(ctx, member)
    const actor = { kind: 'user', id: member.userId, ...justProved(ctx) } as const
    await createInvitation(ctx, { workspace, role: 'viewer', actor })
    const { items: whole } = await listAudit(ctx, { ...ofAll(workspace.id), limit: 100 })
    assert.deepEqual(whole.map(({ action }) => action).toSorted(), [
      'invitation.created',
      'member.joined',
      'user.signed_in',
      'workspace.created',
    ])
    const ids = whole.map(({ id }) => id)
    assert.deepEqual(ids, ids.toSorted().toReversed())
    const first = await listAudit(ctx, { ...ofAll(workspace.id), limit: 2 })
    const rest = await listAudit(ctx, { ...ofAll(workspace.id), before: first.next, limit: 100 })
    assert.deepEqual([...first.items, ...rest.items], whole)
    const joined = whole.find(({ action }) => action === 'member.joined')
    assert.deepEqual(
      [joined?.actor, joined?.subject, joined?.details],
      [{ kind: 'operator' }, member.userId, { role: 'owner' }],
    )
  })

  test('what a user did as a member stays in the log after they left; what they did before and after is not in it', async () => {
    const [workspace, elsewhere] = [await open(), await open()]
    await seedOwner(ctx, workspace)
    const leaver = await signUpPerson(ctx)
    await signInPerson(ctx, leaver)
    const { userId } = leaver
    for (const joined of [workspace, elsewhere]) {
      await addMember(ctx, { workspace: joined, userId, role: 'viewer', actor: OPERATOR })
    }
    await signInPerson(ctx, leaver)
    const membership = await getMembership(ctx, { userId, slug: workspace.slug, right: 'read' })
    await removeMember(ctx, { membership, session: justProved(ctx), userId })
    await signInPerson(ctx, leaver)
    const signIns = async (workspaceId: string) => {
      const log = await listAudit(ctx, { ...ofAll(workspaceId), limit: 100 })
      return log.items.filter(({ action, actor }) => action === 'user.signed_in' && actor.id === userId)
    }
    const [seen, ...more] = await signIns(workspace.id)
    assert.deepEqual(more, [])
    assert.deepEqual(
      [seen?.subject, seen?.details],
      [null, {}],
      'the workspace does not see the device and the passkey',
    )
    assert.equal((await signIns(elsewhere.id)).length, 2)
  })

  test('entries cannot be changed or deleted', async () => {
    await signUpMember(ctx)
    const count = async () => (await readRows(ctx.db, 'select count(*) as n from audit_entries'))[0]?.['n']
    const earlier = await count()
    const appendOnly = /the audit log is append-only/
    await assert.rejects(readRows(ctx.db, "update audit_entries set action = 'x'"), appendOnly)
    await assert.rejects(readRows(ctx.db, 'delete from audit_entries'), appendOnly)
    await assert.rejects(readRows(ctx.db, 'delete from audit_entries where false'), appendOnly)
    await assert.rejects(readRows(ctx.db, 'truncate audit_entries'), appendOnly)
    assert.equal(await count(), earlier)
  })

  test('a change whose audit entry cannot be written is not made', async () => {
    const workspace = await open()
    const ada = await signUpMember(ctx)
    await readRows(
      ctx.db,
      "alter table audit_entries add constraint broken check (action <> 'passkey.added') not valid",
    )
    const { ceremony, options } = await openPasskeyRegistration(ctx, ada)
    const response = makePasskey(ctx, options.user.id).register(toBytes(options.challenge))
    await assert.rejects(addPasskey(ctx, { session: ada.session, ceremony, response, name: 'New' }), /broken/)
    assert.equal((await listPasskeys(ctx, ada)).length, 1)
    await readRows(ctx.db, 'alter table audit_entries drop constraint broken')
    await createInvitation(ctx, { workspace, role: 'viewer', actor: OPERATOR })
  })

  test('the log can be filtered by actor, kind of actor, action and time', async () => {
    const workspace = await open()
    const [ada, bob] = [await seedOwner(ctx, workspace), await seedOwner(ctx, workspace)]
    for (const { userId } of [ada, bob]) {
      const actor = { kind: 'user', id: userId, ...justProved(ctx) } as const
      await createInvitation(ctx, { workspace, role: 'viewer', actor })
    }
    const list = async (filter: AuditFilter) => {
      const { items } = await listAudit(ctx, { ...ofAll(workspace.id), filter, limit: 100 })
      return items.map(({ action, actor }) => [action, actor.id ?? actor.kind])
    }
    const invited = (who: Person) => ['invitation.created', who.userId]
    assert.deepEqual(await list({ by: ada.userId }), [invited(ada)])
    assert.deepEqual(await list({ by: 'user' }), [invited(bob), invited(ada)])
    assert.deepEqual(await list({ by: 'operator', actions: actionsOf('workspace') }), [
      ['workspace.created', 'operator'],
    ])
    assert.deepEqual(await list({ actions: actionsOf('invitation'), by: bob.userId }), [invited(bob)])
    const now = ctx.clock.now()
    const [earlier, later] = [new Date(now.getTime() - 3_600_000), new Date(now.getTime() + 3_600_000)]
    assert.equal((await list({ from: earlier, to: later })).length, 5)
    assert.deepEqual(await list({ from: later }), [])
    assert.deepEqual(await list({ to: earlier }), [])
  })

  function ofAll(workspaceId: string) {
    return { workspaceId, filter: {}, before: null }
  }

  function open() {
    return createEmptyWorkspace(ctx, { name: 'Acme', plan: 'developer', actor: OPERATOR })
  }
})
