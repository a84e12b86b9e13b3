import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { logAll, readCheckpoint, readLeaves, rootFrom } from '../../../../test/support/context/log-leaves.ts'
import { signInPerson, signUpMember } from '../../../../test/support/context/people.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { canonicalJson, type JsonValue } from '../../lib/canonical-json.ts'
import { createLogger } from '../../lib/logger.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { appendLeaves } from './append-leaves.ts'

const ORIGIN = 'localhost:4100/log'

describe('the leaves of the transparency log', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('every audit entry becomes exactly one leaf, and the checkpoint names the tree of all leaves', async () => {
    await openWorkspace()
    // Signing in writes an entry to the log of the person, and one to the log of the workspace.
    await signInPerson(ctx, await signUpMember(ctx))
    await logAll(ctx)
    const leaves = await readLeaves(ctx.db)
    const entries = await readRows(ctx.db, 'select log_id, id, details from audit_entries')
    const nameOf = (logId: unknown, id: unknown) => `${String(logId)} ${String(id)}`
    assert.ok(new Set(entries.map((row) => row['log_id'])).size >= 3)
    assert.deepEqual(
      leaves.map(({ logId, subject }) => nameOf(logId, subject)).toSorted(),
      entries.map((row) => nameOf(row['log_id'], row['id'])).toSorted(),
    )
    assert.deepEqual(
      leaves.map(({ position }) => position),
      leaves.map((_, index) => index),
    )
    assert.deepEqual(await readCheckpoint(ctx.db), [ORIGIN, String(leaves.length), await rootNow()])
    for (const { content, members, logId, subject } of leaves) {
      const row = entries.find((entry) => entry['log_id'] === logId && entry['id'] === subject)
      const salt = Buffer.from(String(members['salt']), 'base64url')
      const details = canonicalJson(row?.['details'] as JsonValue)
      const hash = createHash('sha256').update(salt).update('details\0').update(details).digest('base64url')
      assert.deepEqual([salt.length, members['details_hash']], [16, hash])
      assert.equal(content, canonicalJson(members))
    }
  })

  test('two processes that append at once do not fork the tree, and each checkpoint is the beginning of the next', async () => {
    await logAll(ctx)
    const another = given.openAnother()
    await openConnections(ctx.db, another.db)
    const start = (await readLeaves(ctx.db)).length
    for (let count = 0; count < 20; count += 1) await openWorkspace()
    const seen: (readonly string[])[] = []
    const appendSome = async (context: Context): Promise<void> => {
      while ((await appendLeaves(context, { limit: 3 })) > 0) seen.push(await readCheckpoint(ctx.db))
    }
    await Promise.all([appendSome(ctx), appendSome(another), appendSome(ctx), appendSome(another)])
    const contents = (await readLeaves(ctx.db)).map(({ content }) => content)
    assert.equal(contents.length, start + 20)
    assert.ok(seen.length > 6)
    for (const [, size, root] of seen) assert.equal(root, rootFrom(contents.slice(0, Number(size))))
  })

  for (const fault of ['log_tiles', 'log_head', 'log_queue']) {
    test(`if the transaction fails at ${fault}, the log has no gap afterwards and no leaf twice`, async () => {
      await openWorkspace()
      const before = await readLeaves(ctx.db)
      await readRows(
        ctx.db,
        `create function fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`,
      )
      await readRows(
        ctx.db,
        `create trigger broken before insert or update or delete on ${fault} for each statement execute function fail()`,
      )
      await assert.rejects(appendLeaves(ctx, { limit: 100 }), /broken/)
      await readRows(ctx.db, 'drop function fail() cascade')
      assert.deepEqual(await readLeaves(ctx.db), before)
      await logAll(ctx)
      const leaves = await readLeaves(ctx.db)
      assert.deepEqual(leaves.slice(0, before.length), before)
      assert.equal(leaves.length, before.length + 1)
      assert.deepEqual(await readCheckpoint(ctx.db), [ORIGIN, String(leaves.length), await rootNow()])
    })
  }

  test('a leaf cannot be changed, and what somebody changes who may drop the trigger does not fit the tree', async () => {
    await openWorkspace()
    await logAll(ctx)
    const change = `update log_leaves set content = replace(content, 'workspace.created', 'workspace.renamed')`
    await assert.rejects(readRows(ctx.db, change), /the transparency log is append-only/)
    await assert.rejects(readRows(ctx.db, 'delete from log_leaves where false'), /append-only/)
    const [, , root] = await readCheckpoint(ctx.db)
    assert.equal(await rootNow(), root)
    await readRows(ctx.db, 'alter table log_leaves disable trigger all')
    await readRows(ctx.db, `${change} where position = 0`)
    assert.notEqual(await rootNow(), root)
    await readRows(
      ctx.db,
      `update log_leaves set content = replace(content, 'workspace.renamed', 'workspace.created') where position = 0`,
    )
    await readRows(ctx.db, 'alter table log_leaves enable trigger all')
    assert.equal(await rootNow(), root)
  })

  test('a change whose entry was deleted by hand gets a leaf that says so, and the log goes on', async () => {
    await logAll(ctx)
    const { id } = await openWorkspace()
    await readRows(ctx.db, 'alter table audit_entries disable trigger all')
    await readRows(ctx.db, 'delete from audit_entries where log_id = $1', [id])
    await readRows(ctx.db, 'alter table audit_entries enable trigger all')
    const later = await openWorkspace()
    const logged: object[] = []
    const logger = Object.assign(createLogger('silent'), { error: (fields: object) => logged.push(fields) })
    await appendLeaves({ ...ctx, logger }, { limit: 100 })
    const [missing, next] = (await readLeaves(ctx.db)).slice(-2)
    assert.equal(missing?.members['type'], 'unavailable')
    assert.deepEqual([missing?.logId, missing?.members['of'], next?.logId], [id, 'audit', later.id])
    assert.deepEqual(logged, [{ log: id, type: 'audit', subject: missing?.subject }])
  })

  test('a change of a type that only a later version knows waits for that version, and others do not wait for it', async () => {
    await logAll(ctx)
    // That version's migration has changed the constraint.
    await readRows(ctx.db, 'alter table log_queue drop constraint log_queue_type_check')
    await readRows(
      ctx.db,
      `insert into log_queue (log_id, type, subject, at) values ('wsp_1', 'later', 'one', '2026-06-01T12:00:00Z')`,
    )
    const { id } = await openWorkspace()
    await logAll(ctx)
    assert.equal((await readLeaves(ctx.db)).at(-1)?.logId, id)
    assert.deepEqual(await readRows(ctx.db, 'select type from log_queue'), [{ type: 'later' }])
    await readRows(ctx.db, 'delete from log_queue')
  })

  async function rootNow(): Promise<string> {
    return rootFrom((await readLeaves(ctx.db)).map(({ content }) => content))
  }

  function openWorkspace() {
    return createEmptyWorkspace(ctx, { name: 'Acme', plan: 'developer', actor: OPERATOR })
  }
})
