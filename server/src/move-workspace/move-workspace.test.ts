import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectPayment } from '../../../test/support/context/expect-outcome.ts'
import { seedMovableWorkspace } from '../../../test/support/context/movable-workspace.ts'
import { paymentRequest, seed, seedWallet, type Seed } from '../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { rootFromInclusion } from '../../../test/support/merkle-proofs.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { readWorkspaceRows } from '../../../test/support/database/workspace-rows.ts'
import { listSharedReferences, listWorkspaceTables, SHARED_TABLES } from '../db/moved-rows.ts'
import { OPERATOR } from '../domain/audit/audit-entry.ts'
import { insertAuditEntry } from '../domain/audit/audit-store.ts'
import { authenticateToken } from '../domain/connections/authenticate-token.ts'
import type { Context } from '../domain/context.ts'
import { getInvitation, getMembership } from '../domain/members/queries.ts'
import { authenticateKey } from '../domain/keys/authenticate-key.ts'
import { createPayment } from '../domain/payment-requests/create-payment.ts'
import { checkMoved } from '../domain/moves/check-moved.ts'
import { appendLeaves } from '../domain/transparency-log/append-leaves.ts'
import { hashLeaf } from '../domain/transparency-log/merkle-tree.ts'
import { checkStillHere } from '../domain/workspaces/check-still-here.ts'
import type { Clock } from '../lib/clock.ts'
import { parseCell } from '../values/secret.ts'
import { MoveRefused, withCell, withCells } from './cells.ts'
import { forgetMovedRows, moveWorkspace, undoMove, type MoveStep } from './move-workspace.ts'

const CELL = parseCell('eu2') ?? assert.fail()
const STEPS: readonly MoveStep[] = [
  'marked',
  'drained',
  'rows taken out',
  'taken out',
  'rows put in',
  'arrived',
  'moved',
]
const WEEK_MS = 7 * 86_400_000

describe('moving a workspace to another cell', () => {
  let old: TestContext
  let other: TestContext
  let neighbor: Seed
  let tables: readonly { name: string; key: string }[]
  before(async () => {
    old = await openTestContext()
    other = await openTestContext((config) => ({ ...config, cell: CELL, encryptionKeys: old.config.encryptionKeys }))
    neighbor = await seed(old.context)
    expectPayment(await createPayment(old.context, paymentRequest(neighbor)), 'created')
    tables = await withCell(old.config.database.url, listWorkspaceTables)
  })
  after(async () => {
    await old.close()
    await other.close()
  })

  test('every table belongs to workspaces, is shared with a rule of its own, or stays', async () => {
    const all = await readRows(
      old.context.db,
      `select relname::text as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`,
    )
    const known = new Set([...tables, ...SHARED_TABLES].map(({ name }) => name))
    const stay = all.map(({ name }) => String(name)).filter((name) => !known.has(name))
    assert.deepEqual(stay.toSorted(), [
      ...['attempt_windows', 'authorization_requests', 'ceremonies', 'encryption_keys', 'leases', 'log_head'],
      ...['log_leaves', 'log_queue', 'log_tiles', 'moved_credentials', 'moved_rows', 'moves', 'restores'],
      ...['schema_migrations', 'server_keys', 'sessions'],
    ])
    const references = await withCell(old.config.database.url, listSharedReferences)
    assert.deepEqual([...new Set(references.map(({ shared }) => shared))].toSorted(), [
      ...['oauth_clients', 'users', 'wallet_passkeys'],
    ])
  })

  test('moves every row, leaves none, changes no other workspace, and its credentials work there only', async () => {
    const { seeded, token } = await seedMovableWorkspace(old.context)
    const before = await readWorkspaceRows(old, seeded.workspace.id)
    const beside = await readWorkspaceRows(old, neighbor.workspace.id)
    await move(seeded)
    assert.deepEqual(await readWorkspaceRows(other, seeded.workspace.id), before)
    assert.deepEqual(await readWorkspaceRows(old, neighbor.workspace.id), beside)
    assert.deepEqual(await readWorkspaceRows(old, seeded.workspace.id, { withAudit: false }), {})
    assert.equal((await keyIn(other.context, seeded.key))?.workspace.movingSince, null)
    assert.ok(await tokenIn(other.context, token))
    assert.equal(await keyIn(old.context, seeded.key), null)
    for (const credential of [seeded.key, token]) {
      await assert.rejects(checkMoved(old.context, credential), { code: 'workspace_moved', details: { cell: CELL } })
    }
    const payment = await createPayment(other.context, paymentRequest(seeded, { idempotencyKey: 'first' }))
    assert.equal(expectPayment(payment, 'replayed').idempotencyKey, 'first')
  })

  test('moves more rows than it sends at once', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    await readRows(
      old.context.db,
      `insert into recipients (workspace_id, mode, address, label, created_at)
      select $1, 'test', '0x' || lpad(to_hex(n), 40, '0'), 'one of many', $2 from generate_series(1, 1200) n`,
      [seeded.workspace.id, old.clock.now()],
    )
    const before = await readWorkspaceRows(old, seeded.workspace.id)
    await move(seeded)
    assert.deepEqual(await readWorkspaceRows(other, seeded.workspace.id), before)
  })

  test('brings the leaves with it, which the log of the old cell contains, also when it comes back', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    const { id } = seeded.workspace
    const first = await readLeaves(old, id)
    assert.ok(first.length >= 4)
    await move(seeded)
    assert.deepEqual(await readCarried(other, id), first)

    expectPayment(await createPayment(other.context, paymentRequest(seeded)), 'created')
    await appendLeaves(other.context, { limit: 1_000 })
    const second = await readLeaves(other, id)
    assert.ok(second.length > 0)
    const back = { from: other.config.database.url, to: old.config.database.url }
    await withCells(back, (cells) =>
      moveWorkspace(cells, { workspace: id, cell: CELL, clock: fastClock(), print: () => undefined }),
    )
    assert.deepEqual(await readCarried(old, id), [...first, ...second].toSorted())

    expectPayment(await createPayment(old.context, paymentRequest(seeded)), 'created')
    await appendLeaves(old.context, { limit: 1_000 })
    await move(seeded)
    assert.deepEqual(await readCarried(other, id), [...new Set([...(await readLeaves(old, id)), ...second])].toSorted())
    // The first and the third are the same log.
    const logs = await readRows(
      other.context.db,
      'select checkpoint from carried_logs where workspace_id = $1 order by move_id',
      [id],
    )
    assert.equal(logs.length, 3)
    assert.equal(logs[0]?.['checkpoint'], logs[2]?.['checkpoint'])
  })

  test('waits until an entry of its audit log is a leaf', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    const details = { logId: seeded.workspace.id, createdAt: old.clock.now(), actor: OPERATOR, details: {} } as const
    await old.context.db.write(insertAuditEntry({ ...details, action: 'workspace.renamed', subject: null }))
    const lines: string[] = []
    await move(seeded, null, async (line) => {
      lines.push(line)
      if (line.includes(' 1 entries of the')) await appendLeaves(old.context, { limit: 1_000 })
    })
    assert.ok(lines.some((line) => line.includes(' 1 entries of the')))
    assert.deepEqual(await readCarried(other, seeded.workspace.id), await readLeaves(old, seeded.workspace.id))
  })

  test('does not move from a log whose public key is not stored yet', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    await readRows(old.context.db, 'update log_head set verifier_key = null')
    await assert.rejects(move(seeded), /has not grown since the upgrade/)
    await undo(seeded)
    expectPayment(await createPayment(old.context, paymentRequest(seeded)), 'created')
    await appendLeaves(old.context, { limit: 1_000 })
    await move(seeded)
  })

  test('its people and invitations learn where it is, and nobody else', async () => {
    const { seeded, userId, invitation } = await seedMovableWorkspace(old.context)
    const { slug, id } = seeded.workspace
    const member = (ctx: Context, who = userId) => getMembership(ctx, { userId: who, slug, right: 'read' })
    await assert.rejects(move(seeded, 'taken out'), /interrupted/)
    await assert.rejects(member(old.context), { code: 'workspace_moving' })
    await assert.rejects(getInvitation(old.context, { secret: invitation }), { code: 'workspace_moving' })
    await assert.rejects(checkStillHere(old.context, id), { code: 'workspace_moving' })
    await move(seeded)
    const moved = { code: 'workspace_moved', details: { cell: CELL } }
    await assert.rejects(member(old.context), moved)
    await assert.rejects(getInvitation(old.context, { secret: invitation }), moved)
    await assert.rejects(member(old.context, 'usr_stranger'), { type: 'not_found', code: undefined })
    assert.equal((await member(other.context)).workspace.id, id)
    assert.equal((await getInvitation(other.context, { secret: invitation })).workspace.id, id)
    await checkStillHere(other.context, id)
  })

  for (const step of STEPS) {
    test(`goes on after it was interrupted when ${step}`, async () => {
      const { seeded } = await seedMovableWorkspace(old.context)
      const before = await readWorkspaceRows(old, seeded.workspace.id)
      await assert.rejects(move(seeded, step), /interrupted/)
      await move(seeded).catch((error: unknown) => {
        assert.ok(step === 'moved' && error instanceof MoveRefused, String(error))
      })
      assert.deepEqual(await readWorkspaceRows(other, seeded.workspace.id), before)
      assert.deepEqual(await readWorkspaceRows(old, seeded.workspace.id, { withAudit: false }), {})
    })

    test(`can be undone after it was interrupted when ${step}, unless the workspace has arrived`, async () => {
      const { seeded } = await seedMovableWorkspace(old.context)
      const before = await readWorkspaceRows(old, seeded.workspace.id)
      await assert.rejects(move(seeded, step), /interrupted/)
      if (step === 'arrived' || step === 'moved') {
        await assert.rejects(undo(seeded), MoveRefused)
        assert.deepEqual(await readWorkspaceRows(other, seeded.workspace.id), before)
        return
      }
      await undo(seeded)
      assert.deepEqual(await readWorkspaceRows(old, seeded.workspace.id), before)
      assert.deepEqual(await readWorkspaceRows(other, seeded.workspace.id, { withAudit: false }), {})
      assert.equal((await keyIn(old.context, seeded.key))?.workspace.movingSince, null)
      await move(seeded)
      assert.deepEqual(await readWorkspaceRows(other, seeded.workspace.id), before)
    })
  }

  test('waits for a payment that is being sent', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    const held = 'update payments set attempt_until = $2 where workspace_id = $1 and idempotency_key = $3'
    const until = new Date(old.clock.now().getTime() + 3_600_000)
    await readRows(
      old.context.db,
      `update payments set status = 'pending', settled_at = null, failure_code = null
      where workspace_id = $1 and idempotency_key = 'first'`,
      [seeded.workspace.id],
    )
    await readRows(old.context.db, held, [seeded.workspace.id, until, 'first'])
    const lines: string[] = []
    await move(seeded, null, async (line) => {
      lines.push(line)
      if (!line.startsWith('Waiting for 1 payments')) return
      assert.deepEqual(
        await readRows(old.context.db, 'select moving_since is not null as moving from workspaces where id = $1', [
          seeded.workspace.id,
        ]),
        [{ moving: true }],
      )
      await readRows(old.context.db, held, [seeded.workspace.id, null, 'first'])
    })
    assert.ok(lines.some((line) => line.startsWith('Waiting for 1 payments')))
  })

  for (const type of ['payment.decided', 'signature', 'purchase.answered']) {
    test(`waits for a leaf of the type ${type}`, async () => {
      const { seeded } = await seedMovableWorkspace(old.context)
      const { id } = seeded.workspace
      const queue = `insert into log_queue (log_id, type, subject, at) values ($1, $2, 'one', now())`
      await readRows(old.context.db, queue, [id, type])
      const waits: string[] = []
      await move(seeded, null, async (line) => {
        if (!line.includes(' 1 entries of the transparency log')) return
        waits.push(line)
        await readRows(old.context.db, 'delete from log_queue where log_id = $1', [id])
      })
      assert.equal(waits.length, 1)
    })
  }

  test('waits for a payment that begins to be sent after it has looked, before the rows are locked', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    const held = `update payments set attempt_until = $2 where workspace_id = $1 and idempotency_key = 'first'`
    const until = new Date(old.clock.now().getTime() + 3_600_000)
    const lines: string[] = []
    await withCells({ from: old.config.database.url, to: other.config.database.url }, (cells) =>
      moveWorkspace(cells, {
        ...{ workspace: seeded.workspace.id, cell: CELL, clock: fastClock() },
        print: (line) => {
          lines.push(line)
          if (line.startsWith('Waiting for 1 payments'))
            void readRows(old.context.db, held, [seeded.workspace.id, null])
        },
        onStep: async (step) => {
          const isFirst = !lines.some((line) => line.startsWith('Waiting for 1'))
          if (step === 'drained' && isFirst) await readRows(old.context.db, held, [seeded.workspace.id, until])
        },
      }),
    )
    assert.ok(lines.some((line) => line.startsWith('Waiting for 1 payments')))
  })

  test('refuses rows that the other cell changes, and goes on once it does not', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    const before = await readWorkspaceRows(old, seeded.workspace.id)
    const change = `create function change_agent() returns trigger language plpgsql as
      $$ begin new.created_at := new.created_at + interval '1 microsecond'; return new; end $$`
    await readRows(other.context.db, change)
    await readRows(
      other.context.db,
      'create trigger change before insert on agents for each row execute function change_agent()',
    )
    await assert.rejects(move(seeded), { name: 'RowsDiffer', message: /the rows of agents are not what was taken out/ })
    await readRows(other.context.db, 'drop function change_agent cascade')
    await move(seeded)
    assert.deepEqual(await readWorkspaceRows(other, seeded.workspace.id), before)
  })

  test('comes back with the same command, and the first cell knows its credentials again', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    await move(seeded)
    const urls = { from: other.config.database.url, to: old.config.database.url }
    await withCells(urls, (cells) =>
      moveWorkspace(cells, {
        workspace: seeded.workspace.slug,
        cell: CELL,
        clock: fastClock(),
        print: () => undefined,
      }),
    )
    assert.ok(await keyIn(old.context, seeded.key))
    await checkMoved(old.context, seeded.key)
    await assert.rejects(checkMoved(other.context, seeded.key), { code: 'workspace_moved' })
  })

  test('rewinds how far the other cell has read the chains', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    const cursor = `insert into deposit_cursors (mode, block_number, block_hash, reread_block) values ('test', $1, $2, $3)
      on conflict (mode) do update set block_number = excluded.block_number, block_hash = excluded.block_hash,
        reread_block = excluded.reread_block`
    await readRows(old.context.db, cursor, [100, '0xa', 90])
    await readRows(other.context.db, cursor, [120, '0xb', 80])
    await move(seeded)
    const found = await readRows(other.context.db, 'select block_number, block_hash, reread_block from deposit_cursors')
    assert.deepEqual(found, [{ block_number: '100', block_hash: '0xa', reread_block: '80' }])
  })

  test('keeps its copy for a week', async () => {
    const { seeded, userId } = await seedMovableWorkspace(old.context)
    await move(seeded)
    const request = { workspace: seeded.workspace.id, clock: old.clock, print: () => undefined }
    const forget = () => withCell(old.config.database.url, (client) => forgetMovedRows(client, request))
    await assert.rejects(forget(), /are kept until/)
    old.clock.setOffset(WEEK_MS + 600_000)
    await forget()
    old.clock.setOffset(0)
    await assert.rejects(checkMoved(old.context, seeded.key), { code: 'workspace_moved' })
    const gone = getMembership(old.context, { userId, slug: seeded.workspace.slug, right: 'read' })
    await assert.rejects(gone, { code: 'workspace_moved' })
  })

  test('names the constraint that a row violates in the other cell, and can then be undone', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    const before = await readWorkspaceRows(old, seeded.workspace.id)
    await seedWallet(other.context, await seed(other.context), seeded.wallet)
    await assert.rejects(move(seeded), {
      name: 'RowsDiffer',
      message: /table wallets violates the constraint \w+ there/,
    })
    await undo(seeded)
    assert.deepEqual(await readWorkspaceRows(old, seeded.workspace.id), before)
  })

  test('refuses a person whose id belongs to somebody else there', async () => {
    const { seeded, userId } = await seedMovableWorkspace(old.context)
    const person = `insert into users (id, name, user_handle, created_at) values ($1, 'Eve', $2, $3)`
    await readRows(other.context.db, person, [userId, Buffer.alloc(32, 1), other.clock.now()])
    await assert.rejects(move(seeded), { name: 'RowsDiffer', message: /a row of users exists in the other cell/ })
    await undo(seeded)
  })

  test('refuses a cell whose chain is another one', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    const month = `insert into month_blocks (mode, month, first_block, parent_hash, is_final)
      values ('test', '2020-01', 5, $1, true)`
    await readRows(old.context.db, month, ['0xa'])
    await readRows(other.context.db, month, ['0xb'])
    await assert.rejects(move(seeded), /another chain in test mode, because 2020-01/)
    for (const { db } of [old.context, other.context]) await readRows(db, `delete from month_blocks`)
    assert.ok(await keyIn(old.context, seeded.key))
  })

  test('refuses a cell with other encryption keys', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    await readRows(old.context.db, `insert into encryption_keys (fingerprint, first_used_at) values ('abc', $1)`, [
      old.clock.now(),
    ])
    await assert.rejects(move(seeded), /never used the encryption key abc/)
    await readRows(old.context.db, `delete from encryption_keys where fingerprint = 'abc'`)
  })

  async function move(
    { workspace }: Seed,
    interruptedAt: MoveStep | null = null,
    print: (line: string) => unknown = () => undefined,
  ): Promise<void> {
    const urls = { from: old.config.database.url, to: other.config.database.url }
    await withCells(urls, (cells) =>
      moveWorkspace(cells, {
        ...{ workspace: workspace.id, cell: CELL, clock: fastClock(), print: (line) => void print(line) },
        onStep: (step) => {
          if (step === interruptedAt) throw new Error('interrupted')
        },
      }),
    )
  }

  async function undo({ workspace }: Seed): Promise<void> {
    const urls = { from: old.config.database.url, to: other.config.database.url }
    await withCells(urls, (cells) =>
      undoMove(cells, { workspace: workspace.id, clock: old.clock, print: () => undefined }),
    )
  }

  /** Is a second later at each reading, so that a move need not wait. */
  function fastClock(): Clock {
    let readings = 0
    return {
      now() {
        readings += 1
        return new Date(old.clock.now().getTime() + readings * 1_000)
      },
    }
  }

  /** Reads the leaves of a workspace in the log of a cell. */
  async function readLeaves({ context }: TestContext, workspaceId: string): Promise<string[]> {
    const rows = await readRows(context.db, 'select content from log_leaves where log_id = $1', [workspaceId])
    return rows.map(({ content }) => String(content)).toSorted()
  }

  /** Reads the leaves that a workspace brought, and verifies that the checkpoints of their logs contain them. */
  async function readCarried({ context }: TestContext, workspaceId: string): Promise<string[]> {
    const rows = await readRows(
      context.db,
      `select content, position, proof, checkpoint, verifier_key from carried_leaves
        join carried_logs using (workspace_id, move_id) where workspace_id = $1`,
      [workspaceId],
    )
    for (const { content, position, proof, checkpoint, verifier_key: key } of rows) {
      const [origin, size, root] = String(checkpoint).split('\n')
      assert.ok(String(key).startsWith(`${origin}+`))
      const hashes = [...chunk(proof as Buffer)]
      const place = { position: Number(position), size: Number(size), proof: hashes }
      assert.equal(rootFromInclusion(hashLeaf(Buffer.from(String(content))), place)?.toString('base64'), root)
    }
    return rows.map(({ content }) => String(content)).toSorted()
  }

  function* chunk(hashes: Buffer): Iterable<Buffer> {
    for (let start = 0; start < hashes.length; start += 32) yield hashes.subarray(start, start + 32)
  }

  function keyIn(ctx: Context, credential: string) {
    return authenticateKey(ctx, { credential, bucket: 'default', requiredScope: null })
  }

  function tokenIn(ctx: Context, credential: string) {
    return authenticateToken(ctx, { credential, bucket: 'default', requiredScope: null })
  }
})
