import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { canonicalJson } from '../../server/src/lib/canonical-json.ts'
import { formatRestoredLeaf } from '../../server/src/domain/transparency-log/restored-leaf.ts'
import { hashLeaf, rootOf } from '../../server/src/domain/transparency-log/merkle-tree.ts'
import { formatCheckpoint, NoteSigner } from '../../server/src/domain/transparency-log/signed-note.ts'
import { findHashes, growTiles, parseTilePath, readTiles } from '../../server/src/domain/transparency-log/tile.ts'
import { checkSince, type ReadFile, type SinceResult } from '../../signer/src/evidence/consistency.ts'
import { EvidenceError } from '../../signer/src/evidence/evidence-error.ts'

const SEED = Buffer.alloc(32, 7)
const FIRST = 'api.example.com/log'
const SECOND = `${FIRST}/restored-20260601120000000`
const LOG_KEY = new NoteSigner(FIRST, SEED).verifierKey
const AT = new Date('2026-06-01T12:00:00.000Z')
const SALT = Buffer.alloc(16)

/** A log as a service publishes it. It is as honest as its leaves. */
class Log {
  readonly origin: string
  readonly leaves: string[]
  /** Replaces what is published below a path. */
  readonly faults = new Map<string, Buffer>()
  readonly asked: string[] = []

  constructor(origin: string, leaves: readonly string[]) {
    this.origin = origin
    this.leaves = [...leaves]
  }

  sign(size = this.leaves.length, seed = SEED): string {
    const tiles = growTiles([], 0, this.#hashes().slice(0, size))
    const root = rootOf(readTiles(tiles), size)
    return new NoteSigner(this.origin, seed).sign(formatCheckpoint({ origin: this.origin, size, root }))
  }

  get read(): ReadFile {
    const tiles = growTiles([], 0, this.#hashes())
    const { pathname } = new URL(`https://${this.origin}`)
    return async (path, bytesMax) => {
      this.asked.push(path)
      const bytes = this.faults.get(path) ?? this.#find(path, { tiles, pathname })
      if (bytes === null || bytes.length > bytesMax) throw new Error(`${path} is missing or too long`)
      return await Promise.resolve(Uint8Array.from(bytes))
    }
  }

  #find(path: string, { tiles, pathname }: { tiles: ReturnType<typeof growTiles>; pathname: string }): Buffer | null {
    if (path === '/.well-known/bursar-log.json') return Buffer.from(JSON.stringify(this.document))
    if (path === `${pathname}/checkpoint`) return Buffer.from(this.sign())
    const asked = path.startsWith(`${pathname}/tile/`) ? parseTilePath(path.slice(`${pathname}/tile/`.length)) : null
    const tile = tiles.find(({ level, number }) => level === asked?.level && number === asked.number)
    return tile === undefined || asked === null ? null : findHashes(tile, asked.width)
  }

  get document() {
    return {
      checkpoint_url: `https://${this.origin}/checkpoint`,
      tiles_url: `https://${this.origin}/tile`,
      restored: this.leaves.flatMap((leaf, position) => (leaf.includes('"log.restored"') ? [{ position, leaf }] : [])),
    }
  }

  #hashes(): Buffer[] {
    return this.leaves.map((leaf) => hashLeaf(Buffer.from(leaf)))
  }
}

const makeLeaves = (count: number, name = 'leaf') => Array.from({ length: count }, (_, index) => `${name} ${index}`)

/** A log that was restored when it had `common` of the leaves of another one. */
function restore(old: Log, common: number, { lost = old.sign(), size = common, subject = old.origin } = {}): Log {
  const leaf = formatRestoredLeaf({ at: AT, origin: subject, lost, size }, SALT)
  return new Log(SECOND, [...old.leaves.slice(0, common), leaf, ...makeLeaves(20, 'later')])
}

const check = (
  since: string,
  log: Log,
  {
    checkpoint,
    checkpoints = checkpoint === undefined ? [] : [checkpoint],
    logKey = LOG_KEY,
  }: { checkpoint?: string; checkpoints?: readonly string[]; logKey?: string } = {},
): Promise<SinceResult> => checkSince({ since, checkpoints, logKey, read: log.read })

async function refuse(checked: Promise<SinceResult>, reason: RegExp): Promise<void> {
  await assert.rejects(checked, (error: unknown) => {
    assert.ok(error instanceof EvidenceError, String(error))
    assert.match(error.message, reason)
    return true
  })
}

describe('a checkpoint that somebody has kept, compared with the log of today', () => {
  test('is the beginning of a log that only grew, of any size, and few tiles are read', async () => {
    for (const [oldSize, size] of [
      [1, 1],
      [1, 2],
      [3, 7],
      [255, 256],
      [256, 257],
      [257, 600],
      [512, 600],
      [65_000, 65_793],
    ] as const) {
      const log = new Log(FIRST, makeLeaves(size))
      const { outcome, old, other } = await check(log.sign(oldSize), log)
      assert.deepEqual([outcome, old.size, other.size], ['consistent', oldSize, size])
      assert.ok(log.asked.length <= 8, log.asked.join())
      assert.equal(new Set(log.asked).size, log.asked.length)
    }
  })

  test('is compared with the checkpoint of an evidence file, which may be the older or the newer one', async () => {
    const log = new Log(FIRST, makeLeaves(40))
    for (const size of [10, 20, 30]) {
      assert.equal((await check(log.sign(20), log, { checkpoint: log.sign(size) })).outcome, 'consistent')
    }
    const forged = new Log(FIRST, makeLeaves(30, 'forged'))
    for (const size of [10, 20, 30]) {
      await refuse(check(log.sign(20), log, { checkpoint: forged.sign(size) }), /it was rewritten/)
    }
  })

  test('is compared with the log of today, also if the checkpoint of an evidence file agrees with it', async () => {
    const old = new Log(FIRST, makeLeaves(40))
    const rewritten = new Log(FIRST, makeLeaves(60, 'other'))
    for (const size of [20, 30]) {
      await refuse(check(old.sign(20), rewritten, { checkpoint: old.sign(size) }), /it was rewritten/)
      const tooFew = new Log(FIRST, old.leaves.slice(0, 10))
      await refuse(check(old.sign(20), tooFew, { checkpoint: old.sign(size) }), /fewer than the 20/)
    }
    // A file can name two logs of one key, of which one is the log that is compared.
    const checkpoints = [new Log(SECOND, makeLeaves(5, 'hidden')).sign(), old.sign(30)]
    await refuse(check(old.sign(20), old, { checkpoints }), /tree of the other checkpoint/)
    await refuse(check(old.sign(20), old, { checkpoints: checkpoints.toReversed() }), /tree of the other checkpoint/)
    const changed = new Log(FIRST, old.leaves.with(25, 'other'))
    await refuse(check(old.sign(20), changed, { checkpoint: old.sign(30) }), /tree of the other checkpoint/)
  })

  test('is not the beginning of a log in which a leaf was changed, removed, added or moved', async () => {
    const leaves = makeLeaves(300)
    const since = new Log(FIRST, leaves).sign(280)
    const rewritten = [
      leaves.with(7, 'other'),
      leaves.toSpliced(7, 1),
      leaves.toSpliced(7, 0, 'more'),
      leaves.with(7, 'leaf 8').with(8, 'leaf 7'),
      leaves.with(279, 'other'),
    ]
    for (const changed of rewritten) await refuse(check(since, new Log(FIRST, changed)), /it was rewritten/)
    await refuse(check(since, new Log(FIRST, leaves.slice(0, 200))), /it has 200 leaves, fewer than the 280/)
    await refuse(check(since, new Log(FIRST, makeLeaves(280, 'other'))), /it was rewritten/)
  })

  test('is not the beginning if any hash of a tile was changed that the proof uses', async () => {
    const log = new Log(FIRST, makeLeaves(300))
    const since = log.sign(280)
    await check(since, log)
    for (const path of log.asked.filter((asked) => asked.includes('/tile/'))) {
      const changed = new Log(FIRST, log.leaves)
      const bytes = Buffer.from(await log.read(path, 8_192))
      for (let at = 0; at < bytes.length; at += 32) bytes[at] = (bytes[at] ?? 0) ^ 1
      changed.faults.set(path, bytes)
      await refuse(check(since, changed), /it was rewritten/)
      changed.faults.set(path, bytes.subarray(32))
      await refuse(check(since, changed), /does not have \d+ hashes/)
    }
  })

  test('counts only if the given key has signed both checkpoints', async () => {
    const log = new Log(FIRST, makeLeaves(10))
    const other = Buffer.alloc(32, 8)
    await refuse(check(log.sign(5, other), log), /no signature of the key/)
    await refuse(
      check(log.sign(5), log, { logKey: new NoteSigner(FIRST, other).verifierKey }),
      /no signature of the key/,
    )
    log.faults.set('/log/checkpoint', Buffer.from(log.sign(10, other)))
    await refuse(check(log.sign(5), log), /no signature of the key/)
  })

  test('of a log that was restored later is the beginning of the new log, if it has only the leaves of both', async () => {
    const old = new Log(FIRST, makeLeaves(30))
    for (const size of [1, 19, 20]) assert.equal((await check(old.sign(size), restore(old, 20))).outcome, 'consistent')
  })

  test('of a log that was restored is known to have ended, and the leaf says how many leaves are the same', async () => {
    const old = new Log(FIRST, makeLeaves(30))
    for (const [size, lostSize] of [
      [21, 30],
      [30, 30],
      [30, 25],
    ] as const) {
      const result = await check(old.sign(size), restore(old, 20, { lost: old.sign(lostSize) }))
      assert.ok(result.outcome === 'restored')
      assert.deepEqual([result.at, result.lostSize, result.commonSize], [AT.toISOString(), lostSize, 20])
    }
    const nothingSure = await check(old.sign(30), restore(old, 20, { size: 0 }))
    assert.ok(nothingSure.outcome === 'restored' && nothingSure.commonSize === 0)
  })

  test('of a log that was restored twice is known to have ended with the first restore', async () => {
    const old = new Log(FIRST, makeLeaves(30))
    const first = restore(old, 20)
    const leaf = formatRestoredLeaf({ at: AT, origin: SECOND, lost: first.sign(), size: 35 }, SALT)
    const second = new Log(`${FIRST}/restored-20260602120000000`, [...first.leaves.slice(0, 35), leaf])
    const result = await check(old.sign(), second)
    assert.ok(result.outcome === 'restored' && result.commonSize === 20)
    const later = await check(first.sign(), second)
    assert.ok(later.outcome === 'restored' && later.commonSize === 35)
  })

  test('of a log that was restored is compared with the checkpoint of an evidence file, if the new log has its leaves', async () => {
    const old = new Log(FIRST, makeLeaves(30))
    const restored = restore(old, 20)
    for (const checkpoint of [old.sign(15), restored.sign(25)]) {
      assert.equal((await check(old.sign(30), restored, { checkpoint })).outcome, 'restored')
    }
    // What was lost is that of the evidence, or of both.
    for (const [since, checkpoint] of [
      [15, 25],
      [25, 25],
    ] as const) {
      const result = await check(old.sign(since), restored, { checkpoint: old.sign(checkpoint) })
      assert.ok(result.outcome === 'restored' && result.commonSize === 20)
    }
    const other = new Log(FIRST, [...old.leaves.slice(0, 20), ...makeLeaves(5, 'other')])
    await refuse(check(old.sign(25), restored, { checkpoint: other.sign(25) }), /it was rewritten/)
    await refuse(check(old.sign(30), restored, { checkpoint: old.sign(25) }), /it was rewritten/)
    await refuse(check(old.sign(30), restored, { checkpoint: new Log(FIRST, makeLeaves(9, 'x')).sign() }), /rewritten/)
  })

  test('of a log that ended is not explained by a leaf that the tree does not contain, or that says something else', async () => {
    const old = new Log(FIRST, makeLeaves(30))
    const refused: [Log, RegExp][] = [
      [new Log(SECOND, [...old.leaves.slice(0, 20), ...makeLeaves(20, 'later')]), /it was rewritten/],
      [restore(old, 20, { lost: new Log(SECOND, old.leaves).sign() }), /it was rewritten/],
      [restore(old, 20, { lost: old.sign(30, Buffer.alloc(32, 8)) }), /no signature of the key/],
      [restore(old, 20, { subject: 'other.example/log' }), /it was rewritten/],
      // Had they 30 leaves in common, the new tree would begin with the old one.
      [restore(old, 20, { size: 30 }), /it was rewritten/],
      [restore(old, 20, { size: 21 }), /it was rewritten/],
    ]
    for (const [log, reason] of refused) await refuse(check(old.sign(30), log), reason)
    // It says that 20 leaves are the same, and changed one of them.
    const changed = restore(new Log(FIRST, old.leaves.with(3, 'other')), 20)
    await refuse(check(old.sign(18), changed), /it was rewritten/)
    const silent = new Log(SECOND, [...old.leaves.slice(0, 20), ...makeLeaves(20, 'later')])
    const [claimed] = restore(old, 20).document.restored
    const claims = { ...silent.document, restored: [claimed] }
    silent.faults.set('/.well-known/bursar-log.json', Buffer.from(JSON.stringify(claims)))
    await refuse(check(old.sign(30), silent), /its tree does not contain leaf 20/)
    const far = { ...silent.document, restored: [{ ...claimed, position: 2 ** 40 }] }
    silent.faults.set('/.well-known/bursar-log.json', Buffer.from(JSON.stringify(far)))
    await refuse(check(old.sign(30), silent), /its tree does not contain leaf/)
  })

  test('is not compared with a log whose document is malformed, or leads to another host or path', async () => {
    const log = new Log(FIRST, makeLeaves(10))
    const since = log.sign(5)
    const { document } = log
    const elsewhere = { ...document, checkpoint_url: 'https://other.example/log/checkpoint' }
    log.faults.set('/.well-known/bursar-log.json', Buffer.from(JSON.stringify(elsewhere)))
    assert.equal((await check(since, log)).outcome, 'consistent')
    const malformed: unknown[] = [
      ...[null, [], 'text', {}, { ...document, restored: undefined }, { ...document, restored: {} }],
      { ...document, restored: [null] },
      { ...document, restored: [{ position: -1, leaf: '' }] },
      { ...document, restored: [{ position: 1, leaf: 7 }] },
      { ...document, restored: Array.from({ length: 101 }, () => ({ position: 1, leaf: '' })) },
      { ...document, tiles_url: 'https://api.example.com/v1/tile' },
      { ...document, tiles_url: 'https://api.example.com/log/../../tile' },
      { ...document, checkpoint_url: '/log/checkpoint' },
    ]
    for (const each of malformed) {
      log.faults.set('/.well-known/bursar-log.json', Buffer.from(canonicalJson((each ?? null) as never) ?? ''))
      await refuse(check(since, log), /bursar-log\.json/)
    }
    for (const text of [Buffer.from('{'), Buffer.from([0xff])]) {
      log.faults.set('/.well-known/bursar-log.json', text)
      await refuse(check(since, log), /bursar-log\.json/)
    }
  })
})
