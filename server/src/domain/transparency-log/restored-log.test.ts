import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { readCheckpoint, readLeaves, rootFrom } from '../../../../test/support/context/log-leaves.ts'
import { keepLog, replaceLog } from '../../../../test/support/context/replaced-log.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { takeLease } from '../../db/leases.ts'
import { growLog } from '../../jobs/grow-log.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { appendLeaves } from './append-leaves.ts'
import { findLogStanding, createNewLog } from './create-new-log.ts'
import { keepCheckpoint, requireKeptCheckpoint } from './keep-checkpoint.ts'
import { formatCheckpoint, NoteSigner } from './signed-note.ts'

const ORIGIN = 'localhost:4100/log'

describe('a log whose newest checkpoint is kept in a file', () => {
  let folder: string
  let file: string
  let given: TestContext
  let ctx: Context
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-checkpoint-'))
    file = join(folder, 'checkpoint')
    given = await openTestContext((config) => ({ ...config, logCheckpointFile: file }))
    ctx = given.context
    await grow(3)
    await keepLog(ctx.db)
  })
  afterEach(async () => {
    await given.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('writes it again when leaves were added, and leaves nothing else in the folder', async () => {
    assert.deepEqual([await readFile(file, 'utf8'), await readdir(folder)], [await checkpointNow(), ['checkpoint']])
    const before = await readFile(file, 'utf8')
    await grow(1)
    assert.notEqual(await readFile(file, 'utf8'), before)
    assert.deepEqual([await readFile(file, 'utf8'), await readdir(folder)], [await checkpointNow(), ['checkpoint']])
  })

  test('starts if the file is missing, older or cannot be written, and brings it up to date with the first round', async () => {
    const older = await readFile(file, 'utf8')
    await grow(2)
    const newest = await checkpointNow()
    for (const prepare of [async () => writeFile(file, older), async () => rm(file)]) {
      await prepare()
      const process = start()
      await requireKeptCheckpoint(process)
      await keepCheckpoint(process)
      assert.equal(await readFile(file, 'utf8'), newest)
    }
    await rm(folder, { recursive: true })
    await requireKeptCheckpoint(start())
  })

  test('does not start after the database was restored as it was earlier, nor if it is empty', async () => {
    await grow(2)
    await replaceLog(ctx.db)
    const kept = await readFile(file, 'utf8')
    await assert.rejects(
      requireKeptCheckpoint(start()),
      /log localhost:4100\/log had 5 leaves, and the database has 3 leaves .*: run "npm run after-restore -- --yes"/,
    )
    const empty = await openTestContext((config) => ({
      ...config,
      ...{ logCheckpointFile: file, encryptionKeys: given.config.encryptionKeys },
    }))
    try {
      await readRows(empty.context.db, `insert into server_keys select $1, decode($2, 'hex'), now()`, await readKey())
      await assert.rejects(
        requireKeptCheckpoint(empty.context),
        /had 5 leaves, and the database has 0 leaves of no log/,
      )
    } finally {
      await empty.close()
    }
    assert.equal(await readFile(file, 'utf8'), kept)
  })

  test('does not start after leaves were added to the restored database', async () => {
    await grow(2)
    const kept = await readFile(file, 'utf8')
    await replaceLog(ctx.db)
    await growElsewhere(4)
    await assert.rejects(requireKeptCheckpoint(start()), /the transparency log was rewritten: .* the first 5 leaves/)
    assert.equal(await readFile(file, 'utf8'), kept)
  })

  test('does not start if a tile was changed or is missing', async () => {
    await grow(1)
    const older = await readFile(file, 'utf8')
    await grow(1)
    await writeFile(file, older)
    await readRows(ctx.db, `update log_tiles set hashes = overlay(hashes placing '\\x00'::bytea from 40)`)
    await assert.rejects(requireKeptCheckpoint(start()), /the transparency log was rewritten/)
    await readRows(ctx.db, 'delete from log_tiles')
    await assert.rejects(requireKeptCheckpoint(start()), /the transparency log was rewritten/)
  })

  test('does not start with a file of something else, or of another installation', async () => {
    await writeFile(file, 'something else')
    await assert.rejects(requireKeptCheckpoint(start()), /LOG_CHECKPOINT_FILE does not contain a checkpoint/)
    const signer = new NoteSigner('other.example/log', Buffer.alloc(32, 1))
    await writeFile(
      file,
      signer.sign(formatCheckpoint({ origin: 'other.example/log', size: 9, root: Buffer.alloc(32) })),
    )
    await assert.rejects(requireKeptCheckpoint(start()), /checkpoint of other\.example\/log .* Move the file away/)
  })

  test('starts after its key was lost, but not if the database was restored as well', async () => {
    const older = await readFile(file, 'utf8')
    await grow(2)
    const kept = await readFile(file, 'utf8')
    await readRows(ctx.db, `delete from server_keys where name = 'transparency_log'`)
    await requireKeptCheckpoint(start())
    await writeFile(file, older)
    await requireKeptCheckpoint(start())
    await replaceLog(ctx.db)
    await writeFile(file, kept)
    await assert.rejects(requireKeptCheckpoint(start()), /Move the file away if .* or if the key was lost/)
  })

  test('adds no leaf if the database is restored while the process runs, until a new log was begun', async () => {
    await grow(2)
    await replaceLog(ctx.db)
    await assert.rejects(grow(1), /had 5 leaves, and the database has 3/)
    await assert.rejects(keepCheckpoint(ctx), /had 5 leaves, and the database has 3/)
    assert.equal((await readLeaves(ctx.db)).length, 3)
    await createNewLog(start(), { isForced: false })
    await grow(1)
    assert.equal((await readLeaves(ctx.db)).length, 6)
    assert.equal(await readFile(file, 'utf8'), await checkpointNow())
  })

  test('a process that waits for the lease learns what the others add, and adds nothing to a restored database', async () => {
    const waiting = start()
    const now = waiting.clock.now()
    await ctx.db.write(takeLease('grow-log', 'other', now, new Date(now.getTime() + 60_000)), { mayBeLost: true })
    await requireKeptCheckpoint(waiting)
    const loop = growLog(waiting, { holder: 'test' })
    try {
      await grow(2)
      const newest = await checkpointNow()
      await waitFor('the process knows the leaves', () => waiting.transparencyLog.kept?.newest === newest)
    } finally {
      await loop.stop()
    }
    await replaceLog(ctx.db)
    await rm(file)
    await assert.rejects(grow(1, waiting), /had 5 leaves, and the database has 3/)
    assert.equal((await readLeaves(ctx.db)).length, 3)
  })

  test('if the file cannot be written, goes on, and says that each round has failed', async () => {
    await rm(folder, { recursive: true })
    const rounds: string[] = []
    const measurements = { ...ctx.measurements, roundEnded: (_: string, outcome: string) => rounds.push(outcome) }
    await createEmptyWorkspace(ctx, { name: 'Acme', plan: 'developer', actor: OPERATOR })
    const loop = growLog({ ...ctx, measurements }, { holder: 'test' })
    try {
      await waitFor('a round has ended', () => rounds.length > 0)
    } finally {
      await loop.stop()
    }
    assert.deepEqual([rounds[0], (await readLeaves(ctx.db)).length], ['failed', 4])
  })

  test('a new log goes on from the leaves of the restored database, and its next leaf names the log that ended', async () => {
    await grow(2)
    const lost = await readFile(file, 'utf8')
    await replaceLog(ctx.db)
    const before = await readLeaves(ctx.db)
    const process = start()
    assert.equal(await findLogStanding(process), 'lost')
    const begun = await createNewLog(process, { isForced: false })
    assert.match(begun?.origin ?? '', /^localhost:4100\/log\/restored-\d{17}$/)
    assert.deepEqual([begun?.size, begun?.ended], [3, [ORIGIN]])
    const leaves = await readLeaves(ctx.db)
    assert.deepEqual(leaves.slice(0, 3), before)
    const { salt, at, ...members } = leaves[3]?.members ?? {}
    assert.deepEqual(members, {
      ...{ v: 1, type: 'log.restored', workspace: null, mode: null, subject: ORIGIN, lost, size: 3 },
    })
    assert.ok(salt !== undefined && at !== undefined)
    assert.deepEqual(await readCheckpoint(ctx.db), [begun?.origin, '4', rootFrom(leaves.map(({ content }) => content))])
    assert.equal(await readFile(file, 'utf8'), await checkpointNow())

    assert.equal(await createNewLog(process, { isForced: false }), null)
    await requireKeptCheckpoint(start())
    await grow(1)
    const [origin, size] = await readCheckpoint(ctx.db)
    assert.deepEqual([origin, size], [begun?.origin, '5'])
  })

  for (const fault of ['log_leaves', 'log_tiles', 'log_head']) {
    test(`if the transaction fails at ${fault}, nothing has changed, and the next try begins the new log`, async () => {
      await grow(2)
      const kept = await readFile(file, 'utf8')
      await replaceLog(ctx.db)
      const before = await checkpointNow()
      await readRows(
        ctx.db,
        `create function fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`,
      )
      await readRows(
        ctx.db,
        `create trigger broken before insert or update on ${fault} for each statement execute function fail()`,
      )
      await assert.rejects(createNewLog(start(), { isForced: false }), /broken/)
      await readRows(ctx.db, 'drop function fail() cascade')
      assert.deepEqual([await checkpointNow(), await readFile(file, 'utf8')], [before, kept])
      assert.notEqual(await createNewLog(start(), { isForced: false }), null)
      assert.equal((await readLeaves(ctx.db)).length, 4)
    })
  }

  test('if the process dies before it has written the file, the service starts, and the file follows', async () => {
    await grow(2)
    const kept = await readFile(file, 'utf8')
    await replaceLog(ctx.db)
    await createNewLog(start(), { isForced: false })
    for (const next of [
      requireKeptCheckpoint,
      async (process: Context) => createNewLog(process, { isForced: false }),
    ]) {
      await writeFile(file, kept)
      const process = start()
      assert.equal(await findLogStanding(process), 'ended')
      await next(process)
      await keepCheckpoint(process)
      assert.equal(await readFile(file, 'utf8'), await checkpointNow())
    }
    assert.equal((await readLeaves(ctx.db)).length, 4)
  })

  test('two commands at once begin one new log', async () => {
    await grow(2)
    await replaceLog(ctx.db)
    const processes = [start(), start()]
    for (const { db } of processes) await openConnections(db)
    const begun = await Promise.all(processes.map((process) => createNewLog(process, { isForced: false })))
    assert.equal(begun.filter((one) => one !== null).length, 1)
    assert.equal((await readLeaves(ctx.db)).length, 4)
  })

  test('a backup from before an earlier restore ends both logs, and the new one has a name of its own', async () => {
    await grow(2)
    await replaceLog(ctx.db)
    const first = await createNewLog(start(), { isForced: false })
    await grow(1)
    await replaceLog(ctx.db)
    given.clock.setOffset(1_000)
    const second = await createNewLog(start(), { isForced: false })
    assert.deepEqual(second?.ended, [first?.origin, ORIGIN])
    assert.notEqual(second?.origin, first?.origin)
    const said = (await readLeaves(ctx.db)).slice(3).map(({ members: { subject, size } }) => [subject, size])
    assert.deepEqual(said, [
      [first?.origin, 3],
      [ORIGIN, 3],
    ])
  })

  test('a log that was rewritten is continued only by force, and then says that nothing is surely the same', async () => {
    await grow(2)
    const lost = await readFile(file, 'utf8')
    await replaceLog(ctx.db)
    await growElsewhere(4)
    await assert.rejects(createNewLog(start(), { isForced: false }), /the transparency log was rewritten/)
    assert.equal((await readLeaves(ctx.db)).length, 7)
    assert.deepEqual((await createNewLog(start(), { isForced: true }))?.ended, [ORIGIN])
    const { members } = (await readLeaves(ctx.db)).at(-1) ?? {}
    assert.deepEqual([members?.['lost'], members?.['size']], [lost, 0])
  })

  test('without a file, a new log begins only by force, and says that the log of the database ended', async () => {
    await grow(2)
    await replaceLog(ctx.db)
    await rm(file)
    const lost = await checkpointNow()
    assert.equal(await findLogStanding(start()), 'unknown')
    assert.equal(await createNewLog(start(), { isForced: false }), null)
    await rm(file)
    assert.deepEqual((await createNewLog(start(), { isForced: true }))?.ended, [ORIGIN])
    const { members } = (await readLeaves(ctx.db)).at(-1) ?? {}
    assert.deepEqual([members?.['lost'], members?.['size']], [lost, 3])
  })

  /** Makes so many leaves, and keeps the checkpoint, as the job does. */
  async function grow(count: number, context = ctx): Promise<void> {
    for (let each = 0; each < count; each += 1) {
      await createEmptyWorkspace(context, { name: 'Acme', plan: 'developer', actor: OPERATOR })
    }
    await appendLeaves(context, { limit: 100 })
    await keepCheckpoint(context)
  }

  /** Makes leaves in a process without the file. */
  async function growElsewhere(count: number): Promise<void> {
    const another = start()
    await grow(count, { ...another, transparencyLog: { ...another.transparencyLog, kept: null } })
  }

  /** A process that starts. */
  function start(): Context {
    return given.openAnother()
  }

  async function checkpointNow(): Promise<string> {
    const [row] = await readRows(ctx.db, 'select checkpoint from log_head')
    return String(row?.['checkpoint'])
  }

  async function readKey(): Promise<string[]> {
    const [row] = await readRows(
      ctx.db,
      `select name, encode(key_sealed, 'hex') as sealed from server_keys where name = 'transparency_log'`,
    )
    return [String(row?.['name']), String(row?.['sealed'])]
  }
})
