import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { frozenAt } from '../../../../test/support/context/moved-clock.ts'
import {
  justProved,
  signInPerson,
  signUpMember,
  signUpPerson,
  type Person,
} from '../../../../test/support/context/people.ts'
import { readPlan } from '../../../../test/support/database/read-plan.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { addMember } from '../members/add-member.ts'
import { cleanUpNewcomers, NEWCOMER_RETENTION_MS, NEWCOMERS_PER_STEP } from './clean-up-newcomers.ts'
import { createWorkspace } from '../members/create-workspace.ts'
import { deleteUsers, lockNewcomers, lockUser } from './passkeys-store.ts'
import { findSession } from '../sessions/find-session.ts'
import { getMembership } from '../members/queries.ts'
import { openVerification } from '../sessions/open-verification.ts'
import { removeMember } from '../members/change-membership.ts'

const OWN_TABLES = ['users', 'passkeys', 'recovery_codes', 'sessions', 'ceremonies'] as const

describe('cleaning up users who never had a workspace', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a user who never joined a workspace is deleted with everything after exactly 30 days', async () => {
    const ada = await signUpPerson(ctx)
    await signInPerson(ctx, ada)
    await openVerification(ctx, ada)
    assert.deepEqual(await countOwnRows(ada), [1, 1, 10, 2, 1])
    await cleanUpNewcomers(kept(ada, -1))
    assert.deepEqual(await countOwnRows(ada), [1, 1, 10, 2, 1])
    assert.equal(await cleanUpNewcomers(kept(ada)), 1)
    assert.deepEqual(await countOwnRows(ada), [0, 0, 0, 0, 0])
    assert.deepEqual(await readRows(ctx.db, 'select 1 from audit_entries where log_id = $1', [ada.userId]), [])
    await assert.rejects(signInPerson(ctx, ada), { status: 401, code: 'passkey_unknown' })
    assert.equal(await findSession(ctx, ada), null)
    assert.equal(await cleanUpNewcomers(kept(ada)), 0)
  })

  test('a user who has ever belonged to a workspace stays, even after leaving it', async () => {
    const [founder, guest] = [await signUpMember(ctx), await signUpPerson(ctx)]
    const workspace = await createEmptyWorkspace(ctx, { name: 'Acme', plan: 'developer', actor: OPERATOR })
    await addMember(ctx, { workspace, userId: guest.userId, role: 'viewer', actor: OPERATOR })
    const membership = await getMembership(ctx, { userId: guest.userId, slug: workspace.slug, right: 'read' })
    await removeMember(ctx, { membership, session: justProved(ctx), userId: guest.userId })
    assert.equal(await cleanUpNewcomers(kept(guest)), 0)
    for (const person of [founder, guest]) await signInPerson(ctx, person)
  })

  test('a user who is just joining is not deleted, and a deleted user cannot join', async () => {
    const ada = await signUpPerson(ctx)
    await ctx.db.transaction(async (transaction) => {
      await transaction.run(lockUser(ada.userId))
      assert.equal(await cleanUpNewcomers(kept(ada)), 0)
    })
    assert.equal(await cleanUpNewcomers(kept(ada)), 1)
    const late = createWorkspace(ctx, { userId: ada.userId, name: 'Too late' })
    await assert.rejects(late, { status: 401, type: 'unauthenticated' })
  })

  test('one step is bounded, two processes share the work, and every statement uses an index', async () => {
    const now = ctx.clock.now()
    const insert = (joined: string, count: number): Promise<unknown> =>
      readRows(
        ctx.db,
        `with people as (
            insert into users (id, name, user_handle, created_at, joined_at)
            select '${joined}' || n, 'Nobody', sha256(('${joined}' || n)::bytea), $1, ${joined} from generate_series(1, $2) n
            returning id, user_handle),
          passkeys as (
            insert into passkeys (user_id, credential_id, name, public_key_cose, counter, transports, created_at)
            select id, id, 'First', '', 0, '{}', $1 from people),
          codes as (insert into recovery_codes (user_id, code_hash, created_at) select id, user_handle, $1 from people),
          sessions as (
            insert into sessions (secret_hash, user_id, created_at, last_seen_at, expires_at, verified_at, device)
            select user_handle, id, $1, $1, $1, $1, '' from people)
          insert into ceremonies (secret_hash, kind, challenge, user_id, expires_at)
            select user_handle, 'passkey', '', id, $1 from people`,
        [now, count],
      )
    await insert('null', NEWCOMERS_PER_STEP + 1)
    await insert('$1', 20_000)
    const lock = lockNewcomers(now, NEWCOMERS_PER_STEP)
    assert.match(await readPlan(ctx.db, OWN_TABLES, lock), /Index Scan using users_never_joined/)
    for (const deletion of deleteUsers(['x'])) {
      assert.doesNotMatch(await readPlan(ctx.db, [], deletion), /Seq Scan/, deletion.text)
    }
    const then = frozenAt(ctx, new Date(now.getTime() + NEWCOMER_RETENTION_MS))
    const processes = [then, { ...then, db: given.openAnother().db }]
    const deleted = await Promise.all(processes.map((process) => cleanUpNewcomers(process)))
    for (const count of deleted) assert.ok(count <= NEWCOMERS_PER_STEP)
    const rest = await cleanUpNewcomers(then)
    assert.equal(deleted.reduce((sum, count) => sum + count, 0) + rest, NEWCOMERS_PER_STEP + 1)
  })

  test('rows that refer to a deleted user or connection are found by an index', async () => {
    const bare = await readRows(
      ctx.db,
      `select c.conrelid::regclass::text || ' ' || pg_get_constraintdef(c.oid) as reference from pg_constraint c
        where c.contype = 'f' and c.confrelid in ('users'::regclass, 'connections'::regclass) and not exists (
          select 1 from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = c.conkey[1]
          where i.indrelid = c.conrelid and i.indisvalid
            and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] = c.conkey
            and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = format('(%s IS NOT NULL)', a.attname)))`,
    )
    assert.deepEqual(bare, [])
  })

  function kept({ session }: Person, more = 0): Context {
    return frozenAt(ctx, new Date(session.createdAt.getTime() + NEWCOMER_RETENTION_MS + more))
  }

  async function countOwnRows({ userId }: Person): Promise<number[]> {
    const counts = OWN_TABLES.map(async (table) => {
      const key = table === 'users' ? 'id' : 'user_id'
      return (await readRows(ctx.db, `select 1 from ${table} where ${key} = $1`, [userId])).length
    })
    return await Promise.all(counts)
  }
})
