import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { canonicalJson, type JsonValue } from '../../server/src/lib/canonical-json.ts'
import { verifyConsistency } from '../../signer/src/evidence/merkle.ts'
import { readCheckpoint, readVerifierKey } from '../../signer/src/evidence/signed-note.ts'
import {
  activated,
  createOwner,
  decided,
  ended,
  leavesOf,
  sealFile,
  signGrant,
  signRecord,
  toFile,
  type Part,
} from './forged-file.ts'
import { ForgedLog, seal } from './forged-log.ts'
import type { Verdict } from './python-verifier.ts'
import { openVerifiers, type Verifiers } from './verifiers.ts'

type Members = { readonly [name: string]: JsonValue }

describe('the logs of a file with evidence', () => {
  const owner = createOwner()
  const given = { ownerKeys: [owner.publicKeySpki] }
  const [record, grant, active] = [signRecord(owner), signGrant(owner), activated()]
  const [payment, end] = [decided(), ended()]
  const parts = [record, grant, active, payment, end]
  let verifiers: Verifiers
  before(() => {
    verifiers = openVerifiers()
  })
  after(() => verifiers.close())

  async function verify(file: Members, log: ForgedLog, keys: readonly string[] = []): Promise<unknown> {
    const verdict = await verifiers.verify(seal(file, log), { ...given, logKeys: keys })
    return describeVerdict(verdict)
  }

  test('a checkpoint by another key, of another log, or of another tree is found out', async () => {
    const [log, other] = [new ForgedLog(), new ForgedLog()]
    const file = toFile(parts, log)
    toFile(parts, other)
    const own = (file['logs'] as readonly Members[])[0] ?? assert.fail()
    const withLog = (change: Members): Members => ({ ...file, logs: [{ ...own, ...change }] })
    assert.equal(await verify(file, log, [log.signer.verifierKey]), 'yes, yes')
    assert.equal(await verify(file, log, [other.signer.verifierKey]), 'logs[0].key')
    assert.equal(await verify(withLog({ checkpoint: other.checkpoint() }), log), 'logs[0].checkpoint')
    assert.equal(await verify(withLog({ key: other.signer.verifierKey }), log), 'logs[0].checkpoint')
    const renamed = new ForgedLog('another.example/log')
    assert.equal(await verify(withLog({ key: renamed.signer.verifierKey }), log), 'logs[0].checkpoint')
    const note = log.checkpoint()
    for (const [from, to] of [
      ['\n\n', '\nextension\n\n'],
      [/\n$/, '\n— another.example/log AAAA\n'],
      [/\n$/, ''],
      [/\n10\n/, '\n010\n'],
      [/ ([A-Za-z0-9+/=]+)\n$/, ' $1=\n'],
    ] as const) {
      assert.notEqual(note.replace(from, to), note)
      assert.equal(await verify(withLog({ checkpoint: note.replace(from, to) }), log), 'logs[0].checkpoint')
    }
    // A seal is a note by the same key, but no checkpoint; nor is a checkpoint a seal.
    const { seal: sealed } = JSON.parse(seal(file, log)) as { seal: string }
    assert.equal(await verify(withLog({ checkpoint: sealed }), log), 'logs[0].checkpoint')
    const unsealed = canonicalJson({ ...file, seal: note })
    assert.equal(describeVerdict(await verifiers.verify(unsealed, given)), 'seal')
    assert.equal(describeVerdict(await verifiers.verify(seal(file, other), given)), 'seal')
  })

  test('a log that was forked has two checkpoints of one size, which contradict each other', async () => {
    const seed = Buffer.alloc(32, 7)
    const [log, fork] = [new ForgedLog(undefined, seed), new ForgedLog(undefined, seed)]
    const files = [toFile(parts, log), toFile([record, grant, active, decided({ amount: '1' }), end], fork)]
    // Each file is in order. Only somebody who has kept a checkpoint of the other tree can find out.
    for (const file of files) assert.equal(await verify(file, log, [log.signer.verifierKey]), 'yes, yes')
    const key = await readVerifierKey(log.signer.verifierKey)
    const [one, other] = await Promise.all([log, fork].map((each) => readCheckpoint(each.checkpoint(), key)))
    assert.ok(one !== undefined && other !== undefined)
    assert.equal(one.size, other.size)
    assert.notDeepEqual(one.root, other.root)
    assert.equal(await verifyConsistency({ oldSize: one.size, oldRoot: one.root }, other, []), false)
  })

  test('of a workspace that was moved are read in their order', async () => {
    const moved = (first: readonly Part[], second: readonly Part[]): readonly [Members, ForgedLog] => {
      const [log, next] = [new ForgedLog('eu1.example/log'), new ForgedLog('eu2.example/log')]
      // Other leaves come first.
      log.add(activated().leaf, ...leavesOf(first))
      next.add(activated().leaf, ...leavesOf(second))
      const logs = [log.export(leavesOf(first)), next.export(leavesOf(second))]
      return [{ ...toFile(parts, new ForgedLog()), logs }, next]
    }
    assert.equal(await verify(...moved([record, grant, active], [payment, end])), 'yes, yes')
    assert.equal(await verify(...moved(parts, [])), 'yes, yes')
    assert.equal(await verify(...moved([payment, end], [record, grant, active])), 'no, yes')
    const [file] = moved([], parts)
    assert.equal(await verify(file, new ForgedLog()), 'logs[0].leaves')
  })

  test('may name a log again only with the same key, the same checkpoint and higher positions', async () => {
    const log = new ForgedLog('eu1.example/log')
    const file = toFile(parts, log)
    const [whole = assert.fail()] = file['logs'] as readonly (Members & { leaves: readonly JsonValue[] })[]
    const split = (at: number, change: Members = {}): Members => ({
      ...file,
      logs: [
        { ...whole, leaves: whole.leaves.slice(0, at) },
        { ...whole, leaves: whole.leaves.slice(at), ...change },
      ],
    })
    assert.equal(await verify(split(3), log), 'yes, yes')
    assert.equal(
      await verify({ ...file, logs: (split(3)['logs'] as JsonValue[]).toReversed() }, log),
      'logs[1].leaves[0].position',
    )
    const other = new ForgedLog('eu1.example/log')
    other.add(end.leaf)
    assert.equal(
      await verify(split(3, { checkpoint: other.checkpoint(), key: other.signer.verifierKey }), log),
      'logs[1].key',
    )
    log.add(end.leaf)
    assert.equal(await verify(split(3, { checkpoint: log.checkpoint() }), log), 'logs[1].checkpoint')
  })

  test('contain each leaf at its position, and not behind their end', async () => {
    const log = new ForgedLog()
    const file = toFile(parts, log)
    const [whole = assert.fail()] = file['logs'] as readonly (Members & { leaves: readonly Members[] })[]
    const at = (position: number): Members => ({
      ...file,
      logs: [{ ...whole, leaves: [...whole.leaves.slice(0, -1), { ...whole.leaves.at(-1), position }] }],
    })
    assert.equal(await verify(at(log.leaves.length - 2), log), 'logs[0].leaves[4].proof')
    assert.equal(await verify(at(log.leaves.length), log), 'logs[0].leaves[4].position')
  })

  test('have at most 100 members, and the file has nothing before or after it', async () => {
    const log = new ForgedLog()
    const text = sealFile(parts, log)
    const file = JSON.parse(text) as Members
    const [whole = assert.fail()] = file['logs'] as readonly Members[]
    assert.equal(await verify({ ...file, logs: [] }, log), 'logs')
    assert.equal(await verify({ ...file, logs: Array.from({ length: 101 }, () => whole) }, log), 'logs')
    for (const changed of [
      ` ${text}`,
      `${text} `,
      `\u{feff}${text}`,
      text.replace('"format"', ' "format"'),
      '',
      '{',
      'null',
      '[]',
      '1e3',
    ]) {
      assert.equal(describeVerdict(await verifiers.verify(changed, given)), 'file', changed.slice(0, 20))
    }
    // Only an export ends with a newline.
    assert.match(describeVerdict(await verifiers.verify(`${text}\n`, given)), /^(file|lines\[0\])$/)
  })
})

function describeVerdict(verdict: Verdict): string {
  if (!verdict.valid) return verdict.part
  assert.ok('payment' in verdict)
  return `${verdict.owner_signed}, ${verdict.within_limits}`
}
