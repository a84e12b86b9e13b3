import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openLogReader } from '../../signer/program/read-log.ts'
import { readConfig } from '../../server/src/config.ts'
import { growTiles, readTiles } from '../../server/src/domain/transparency-log/tile.ts'
import { hashLeaf, rootOf } from '../../server/src/domain/transparency-log/merkle-tree.ts'
import { formatCheckpoint, NoteSigner } from '../../server/src/domain/transparency-log/signed-note.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../../server/src/domain/wallets/signing-fence.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import { checkSince, type SinceResult } from '../../signer/src/evidence/consistency.ts'
import { verifyEvidence } from '../../signer/src/evidence/verify-evidence.ts'
import { findFreePort } from '../support/free-port.ts'
import { call } from '../support/http-client.ts'
import { backUpDatabase } from '../support/restore/database-backup.ts'
import { openRestoreFixture, type RestoreFixture } from '../support/restore/restore-fixture.ts'
import { createPayer, makeKeys, pay, type PayerFixture } from '../support/sandbox/payer-fixture.ts'
import { prepareSandbox } from '../support/sandbox/prepared-sandbox.ts'
import { runProgram } from '../support/sandbox/run-program.ts'
import { waitFor } from '../support/wait-for.ts'

const SERVER = 'server/src/main.ts'
const CHECKPOINT_BYTES_MAX = 4_096
const COMMAND = 'server/src/after-restore/main.ts'

describe('the transparency log of a service, as somebody sees it who has kept checkpoints', () => {
  let fixture: RestoreFixture
  let logKey: string
  let payer: PayerFixture
  let payment: string
  /** The checkpoint at the time of the backup, and one that the backup does not contain. */
  const kept = { early: '', late: '' }
  let exported: Buffer

  before(async () => {
    fixture = await openRestoreFixture({ prepared: await prepareSandbox() })
    payer = await createPayer(fixture)
    payment = (await pay(fixture, payer)).body.payment.id
    // Evidence contains the signature of the owner, which is kept encrypted as long as it could be used.
    await fixture.advanceClock((SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS) / 1_000 + 1)
    await fixture.sandbox.killServer('SIGTERM')
    await fixture.sandbox.startServer()
    await waitForLog()
    logKey = (await readDocument()).verifier_key
  })
  after(() => fixture.close())

  test('a log that only grew is consistent with each of its checkpoints', async () => {
    kept.early = await readCheckpoint()
    exported = await exportEvidence(payer.key)
    assert.equal((await check(kept.early)).outcome, 'consistent')
    await pay(fixture, payer)
    await waitForLog()
    const result = await check(kept.early)
    assert.ok(result.outcome === 'consistent' && result.other.size > result.old.size)
  })

  test('after the database was restored as it was earlier, the service does not start, and adds no leaf', async () => {
    await fixture.sandbox.killServer('SIGTERM')
    kept.early = await readStored()
    const backup = await backUpDatabase(fixture.databaseUrl)
    await fixture.sandbox.startServer()
    await pay(fixture, payer)
    await waitForLog()
    kept.late = await readCheckpoint()
    // The file is written after the commit. If the service is killed in between, it does not know what it lost.
    const file = readConfig(fixture.environment()).logCheckpointFile ?? assert.fail()
    await waitFor('the file to have the checkpoint', async () => (await readFile(file, 'utf8')) === kept.late)
    await fixture.sandbox.killServer('SIGKILL')
    await backup.restore()

    const { exitCode, output } = await runProgram(SERVER, { env: fixture.environment() })
    assert.equal(exitCode, 1)
    assert.match(output, /It was restored as it was earlier: run "npm run after-restore -- --yes"/)
    assert.equal(await readStored(), kept.early)
    const compared = await runProgram(COMMAND, { env: fixture.environment() })
    assert.match(compared.output, /The database has lost leaves of the transparency log/)
    assert.equal(await readStored(), kept.early)
  })

  test('after the command, the service goes on, and the log says that it was restored', async () => {
    const { exitCode, output } = await runProgram(COMMAND, { args: ['--yes'], env: fixture.environment() })
    assert.equal(exitCode, 0, output)
    assert.match(output, /The transparency log goes on from \d+ leaves as localhost:\d+\/log\/restored-\d{17}\./)
    await fixture.sandbox.startServer()
    await waitForLog()
    assert.equal((await check(kept.early)).outcome, 'consistent')
    const result = await check(kept.late)
    assert.ok(result.outcome === 'restored')
    assert.deepEqual([result.lostSize, result.commonSize], [sizeOf(kept.late), sizeOf(kept.early)])
    const told = await verify(kept.late)
    // Leaves may be lost, so the command says no, although the log says so itself.
    assert.equal(told.exitCode, 1, told.output)
    assert.deepEqual(JSON.parse(told.output).log, {
      ...{ outcome: 'restored', old_size: result.old.size, size: result.other.size, restored_at: result.at },
      ...{ lost_size: result.lostSize, common_size: result.commonSize },
    })
    const { restored, origin, checkpoint_url: url } = await readDocument()
    assert.deepEqual(
      restored.map(({ position }) => position),
      [sizeOf(kept.early)],
    )
    assert.equal(url, `http://${origin}/checkpoint`)
    const gone = await call(fixture.baseUrl, 'GET', '/log/checkpoint', {})
    assert.deepEqual([gone.status, gone.body.error.type], [404, 'not_found'])
    const again = await runProgram(COMMAND, { args: ['--yes'], env: fixture.environment() })
    assert.match(again.output, /The transparency log has all leaves of the checkpoint in LOG_CHECKPOINT_FILE/)
    assert.equal((await readDocument()).restored.length, 1)
  })

  test('evidence from before the restore stays valid, and so is the evidence that the new log gives', async () => {
    const [key = ''] = await makeKeys(fixture, payer, 1)
    const { verifier_key: newKey } = await readDocument()
    for (const [file, trusted] of [
      [exported, logKey],
      [await exportEvidence(key), newKey],
    ] as const) {
      const result = await verifyEvidence(file, { ownerKeys: [], logKeys: [trusted], node: null })
      assert.notEqual(result.kind, 'invalid', result.kind === 'invalid' ? result.reason : '')
    }
  })

  test('a log that somebody rewrote, with all tiles and the key, contradicts the checkpoint that was kept', async () => {
    const since = await readCheckpoint()
    await fixture.sandbox.killServer('SIGTERM')
    await rewriteLog()
    const { exitCode, output } = await runProgram(SERVER, { env: fixture.environment() })
    assert.equal(exitCode, 1)
    assert.match(output, /the transparency log was rewritten/)
    const command = await runProgram(COMMAND, { args: ['--yes'], env: fixture.environment() })
    assert.equal(command.exitCode, 1)
    assert.match(command.output, /the transparency log was rewritten/)
    const another = await fixture.sandbox.addServer({ port: await findFreePort(), env: { LOG_CHECKPOINT_FILE: '' } })
    try {
      const told = await verify(since, another.baseUrl)
      assert.equal(told.exitCode, 1)
      assert.match(told.output, /"part": ?"log".*it was rewritten/s)
      await assert.rejects(check(kept.early, another.baseUrl), /it was rewritten/)
    } finally {
      await another.stop()
    }
  })

  /** Changes the first leaf, and everything that follows from it, as an attacker can who has the database and the key. */
  async function rewriteLog(): Promise<void> {
    const rows = await fixture.query('select content from log_leaves order by position')
    const contents = rows.map((row) => String(row['content'])).with(0, '{"type":"audit"}')
    const tiles = growTiles(
      [],
      0,
      contents.map((content) => hashLeaf(Buffer.from(content))),
    )
    const [head] = await fixture.query('select origin from log_head')
    const origin = String(head?.['origin'])
    const root = rootOf(readTiles(tiles), contents.length)
    const options = { clock: createClock(), logger: createLogger('silent') }
    const { context, close } = openContext(readConfig(fixture.environment()), options)
    const signer = new NoteSigner(origin, await context.transparencyLog.key.read())
    await close()
    const checkpoint = signer.sign(formatCheckpoint({ origin, size: contents.length, root }))
    await fixture.query('alter table log_leaves disable trigger all')
    await fixture.query('update log_leaves set content = $1 where position = 0', [contents[0]])
    for (const { level, number, hashes } of tiles) {
      await fixture.query('update log_tiles set hashes = $3 where level = $1 and number = $2', [level, number, hashes])
    }
    await fixture.query('update log_head set checkpoint = $1', [checkpoint])
  }

  function check(since: string, baseUrl = fixture.baseUrl): Promise<SinceResult> {
    return checkSince({ since, checkpoint: null, logKey, read: openLogReader(baseUrl) })
  }

  /** Runs the command line, as somebody does who has kept a checkpoint in a file. */
  async function verify(
    since: string,
    baseUrl = fixture.baseUrl,
  ): Promise<{ exitCode: number | null; output: string }> {
    const file = join(fixture.dataDir, 'kept-checkpoint')
    await writeFile(file, since)
    const args = ['verify', '--since', file, '--log-key', logKey, '--log-url', baseUrl, '--json']
    return await runProgram('cli/bin/bursar.js', { args, env: {} })
  }

  async function readDocument() {
    const { text } = await call(fixture.baseUrl, 'GET', '/.well-known/bursar-log.json', {})
    return JSON.parse(text) as {
      readonly origin: string
      readonly verifier_key: string
      readonly checkpoint_url: string
      readonly restored: readonly { readonly position: number }[]
    }
  }

  async function readCheckpoint(): Promise<string> {
    const { pathname } = new URL((await readDocument()).checkpoint_url)
    return Buffer.from(await openLogReader(fixture.baseUrl)(pathname, CHECKPOINT_BYTES_MAX)).toString()
  }

  async function readStored(): Promise<string> {
    const [row] = await fixture.query('select checkpoint from log_head')
    return String(row?.['checkpoint'])
  }

  /** Waits until all changes have leaves. */
  async function waitForLog(): Promise<void> {
    await waitFor('all changes have leaves', async () => {
      return (await fixture.query('select number from log_queue limit 1')).length === 0
    })
  }

  async function exportEvidence(key: string): Promise<Buffer> {
    return await waitFor('the evidence of the payment', async () => {
      const answer = await call(fixture.baseUrl, 'GET', `/v1/payments/${payment}/evidence`, { key })
      return answer.status === 200 ? Buffer.from(answer.text) : null
    })
  }

  function sizeOf(checkpoint: string): number {
    return Number(checkpoint.split('\n')[1])
  }
})
