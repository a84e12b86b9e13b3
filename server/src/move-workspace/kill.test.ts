import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { seedMovableWorkspace } from '../../../test/support/context/movable-workspace.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { countWaitingFor } from '../../../test/support/database/hold-table.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { readWorkspaceRows } from '../../../test/support/database/workspace-rows.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { authenticateKey } from '../domain/keys/authenticate-key.ts'
import { checkMoved } from '../domain/moves/check-moved.ts'
import { parseCell } from '../values/secret.ts'
import { withCells } from './cells.ts'
import { moveWorkspace, type MoveStep } from './move-workspace.ts'

const PROGRAM = fileURLToPath(new URL('main.ts', import.meta.url))
const CELL = 'eu2'

/** Runs the command as a process, and kills it (`SIGKILL`) while PostgreSQL makes one of its statements wait. */
describe('a command that is killed while it moves a workspace', () => {
  let old: TestContext
  let other: TestContext
  const running = new Set<ChildProcess>()
  before(async () => {
    old = await openTestContext()
    other = await openTestContext((config) => ({ ...config, encryptionKeys: old.config.encryptionKeys }))
  })
  after(async () => {
    for (const child of running) child.kill('SIGKILL')
    await old.close()
    await other.close()
  })

  test('goes on when it runs again, wherever it was killed', async () => {
    const { seeded, token } = await seedMovableWorkspace(old.context)
    const { id } = seeded.workspace
    const before = await readWorkspaceRows(old, id)
    await killWhileDraining(id)
    // In the middle of taking the rows out.
    await killWaiting(old, 'agents', id)
    assert.equal(await stateIn(old, id), 'draining')
    // After the rows were taken out, before the other cell knows of the move.
    await killWaiting(other, 'moves', id)
    assert.equal(await stateIn(old, id), 'taken_out')
    assert.deepEqual(await readWorkspaceRows(old, id, { withAudit: false }), {})
    // In the middle of putting the rows in.
    await killWaiting(other, 'agents', id)
    assert.deepEqual(await readWorkspaceRows(other, id, { withAudit: false }), {})
    await killAfterArrival(id)
    assert.equal(await stateIn(old, id), 'taken_out')
    await assert.rejects(checkMoved(old.context, seeded.key), { code: 'workspace_moving' })

    assert.deepEqual(await run(id, '--cell', CELL), { exitCode: 0, killed: false })
    assert.deepEqual(await readWorkspaceRows(other, id), before)
    assert.deepEqual(await readWorkspaceRows(old, id, { withAudit: false }), {})
    for (const credential of [seeded.key, token]) {
      await assert.rejects(checkMoved(old.context, credential), { code: 'workspace_moved' })
    }
    assert.ok(await authenticateKey(other.context, { credential: seeded.key, bucket: 'default', requiredScope: null }))
  })

  test('can be undone, also if the command that undoes it is killed', async () => {
    const { seeded } = await seedMovableWorkspace(old.context)
    const { id } = seeded.workspace
    const before = await readWorkspaceRows(old, id)
    await takeOut(id)
    await killWaiting(other, 'agents', id)
    await killWaiting(old, 'agents', id, ['--undo'])
    assert.equal(await stateIn(old, id), 'taken_out')
    assert.deepEqual(await run(id, '--undo'), { exitCode: 0, killed: false })
    assert.deepEqual(await readWorkspaceRows(old, id), before)
    assert.deepEqual(await readWorkspaceRows(other, id, { withAudit: false }), {})
    await checkMoved(old.context, seeded.key)
  })

  /** Takes the rows of a workspace out, as if the command had been started a minute ago. */
  async function takeOut(workspace: string): Promise<void> {
    let isMarked = false
    const clock = { now: () => new Date(old.clock.now().getTime() + (isMarked ? 0 : -60_000)) }
    const onStep = (step: MoveStep) => {
      isMarked = true
      if (step === 'taken out') throw new Error('interrupted')
    }
    const urls = { from: old.config.database.url, to: other.config.database.url }
    const cell = parseCell(CELL) ?? assert.fail()
    const moving = withCells(urls, (cells) =>
      moveWorkspace(cells, { workspace, cell, clock, print: () => undefined, onStep }),
    )
    await assert.rejects(moving, /interrupted/)
  }

  /** Kills the command while it waits for a payment, and ends that payment. */
  async function killWhileDraining(id: string): Promise<void> {
    await readRows(
      old.context.db,
      `update payments set attempt_until = $2 where workspace_id = $1 and idempotency_key = 'first' and settled_at is null
        returning id`,
      [id, new Date(old.clock.now().getTime() + 3_600_000)],
    ).then((rows) => assert.equal(rows.length, 1))
    const { child, ended } = start(id, '--cell', CELL)
    await waitFor('the mark', async () => (await stateIn(old, id)) === 'draining')
    child.kill('SIGKILL')
    assert.deepEqual(await ended, { exitCode: null, killed: true })
    await readRows(old.context.db, 'update payments set attempt_until = null where workspace_id = $1', [id])
    // So that the next command need not wait for the requests that were let in before the mark.
    await readRows(
      old.context.db,
      `update moves set started_at = started_at - interval '1 minute' where workspace_id = $1`,
      [id],
    )
  }

  /** Kills the command while a table keeps it waiting. */
  async function killWaiting(cell: TestContext, table: string, id: string, args = ['--cell', CELL]): Promise<void> {
    const release = await lockTable(cell, table)
    const { child, ended } = start(id, ...args)
    await waitFor(`the command waits for ${table}`, async () => (await countWaitingFor(cell.context.db, table)) > 0)
    child.kill('SIGKILL')
    assert.deepEqual(await ended, { exitCode: null, killed: true })
    await release()
    await connectionsEnd(cell)
  }

  /** Kills the command after the other cell has committed the workspace, before the old cell has recorded that. */
  async function killAfterArrival(id: string): Promise<void> {
    const letIn = await lockTable(other, 'agents')
    const { child, ended } = start(id, '--cell', CELL)
    await waitFor('the command puts rows in', async () => (await countWaitingFor(other.context.db, 'agents')) > 0)
    const release = await lockTable(old, 'moves')
    await letIn()
    await waitFor('the command records it', async () => (await countWaitingFor(old.context.db, 'moves')) > 0)
    child.kill('SIGKILL')
    assert.deepEqual(await ended, { exitCode: null, killed: true })
    await release()
    await connectionsEnd(old)
    assert.equal(await stateIn(other, id), 'arrived')
  }

  /** Locks a table until the returned function is called. Has no time limit, because a process may start slowly. */
  async function lockTable({ config }: TestContext, table: string): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: config.database.url })
    await client.connect()
    await client.query(`begin; lock table ${table} in access exclusive mode`)
    return () => client.end()
  }

  /** Waits until PostgreSQL has noticed that the command is gone, and has rolled back its transaction. */
  async function connectionsEnd({ context }: TestContext): Promise<void> {
    const open = `select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'bursar move-workspace'`
    await waitFor('the connections end', async () => (await readRows(context.db, open)).length === 0)
  }

  async function stateIn({ context }: TestContext, id: string): Promise<unknown> {
    return (await readRows(context.db, 'select state from moves where workspace_id = $1', [id]))[0]?.['state']
  }

  async function run(...args: string[]) {
    return await start(...args).ended
  }

  function start(...args: string[]) {
    const env = { DATABASE_URL: old.config.database.url, TO_DATABASE_URL: other.config.database.url }
    const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: 'ignore' })
    running.add(child)
    const ended = once(child, 'exit').then(([exitCode, signal]: unknown[]) => {
      running.delete(child)
      return { exitCode, killed: signal === 'SIGKILL' }
    })
    return { child, ended }
  }
})
