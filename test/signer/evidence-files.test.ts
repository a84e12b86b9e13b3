import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import type { Json } from '../../signer/src/canonical-json.ts'
import type { Trust } from '../../signer/src/evidence/judge-payment.ts'
import { verifyEvidence } from '../../signer/src/evidence/verify-evidence.ts'
import {
  createFile,
  createLog,
  createLogEntry,
  createPlan,
  encode,
  getLeaf,
  SAMPLE_KINDS,
  sealFile,
  type Plan,
  type SampleFile,
} from './evidence-sample.ts'

type Path = readonly (string | number)[]

/** Of all samples but one, one of so many bytes is changed. */
const STEP = 13

describe('a file with evidence', () => {
  for (const kind of SAMPLE_KINDS) {
    test(`of kind ${kind} is valid, and names every byte that was changed`, async () => {
      const plan = createPlan(kind)
      const file = createFile(plan)
      const content = encode(file)
      const valid = await verifyEvidence(content, trustOf(plan))
      assert.ok(valid.kind === 'valid', inspect(valid))
      assert.deepEqual([valid.ownerSigned.answer, valid.withinLimits.answer], ['yes', 'yes'])
      const parts = mapBytes(file)
      assert.equal(parts.length, content.length)
      for (let at = 0; at < content.length; at += kind === 'withdrawal' ? 1 : STEP) {
        const changed = content.slice()
        changed[at] = (changed[at] ?? 0) ^ 1
        const { part, reason } = await fail(changed, trustOf(plan))
        // A changed text may also be found where something else depends on it, but never in a part that has no fault.
        const expected = parts[at] ?? ''
        assert.ok(isRelated(part, expected), `byte ${at}, in ${expected}: ${part}: ${reason}`)
      }
    })
  }

  test('is invalid without any of its members, and names the member', async () => {
    const plan = createPlan('resumed')
    const file = createFile(plan)
    for (const path of listPaths(file)) {
      const { part } = await fail(encode(remove(file, path)), trustOf(plan))
      const name = formatPath(path)
      if (typeof path.at(-1) === 'string')
        assert.equal(part, path.includes('texts') ? formatPath(path.slice(0, 5)) : name)
      // Without an entry of a list, the part that is wrong is the list, or what depends on it.
      else assert.match(part, /^(?:logs|signatures|does_not_prove|seal)/, name)
    }
  })

  test('is invalid with a member more, and names the object', async () => {
    const plan = createPlan('resumed')
    const file = createFile(plan)
    for (const path of [[], ...listPaths(file)]) {
      const value = read(file, path)
      if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
      const more = { ...(value as Record<string, Json>), more: 1 }
      const { part } = await fail(encode(replace(file, path, more)), trustOf(plan))
      assert.equal(part, formatPath(path) || 'file')
    }
  })

  test('accepts no part of another file, not even if it is sealed again', async () => {
    const plan = createPlan('resumed')
    const [file, other] = [createFile(plan), createFile({ ...createPlan('resumed'), log: plan.log })]
    for (const path of listPaths(file)) {
      const [own, foreign] = [read(file, path), read(other, path)]
      if (JSON.stringify(own) === JSON.stringify(foreign) || path[0] === 'seal') continue
      const mixed = replace(file, path, foreign)
      await fail(encode(mixed), trustOf(plan))
      const { part } = await fail(encode(sealFile(mixed as SampleFile, plan.log)), trustOf(plan))
      assert.notEqual(part, 'seal', formatPath(path))
    }
  })

  test('is invalid if any text or number was changed and somebody with the key of the log sealed it again', async () => {
    const plan = createPlan('resumed')
    const file = createFile(plan)
    for (const path of listPaths(file)) {
      const value = read(file, path)
      if (path[0] === 'seal' || (typeof value !== 'string' && typeof value !== 'number')) continue
      const changed = typeof value === 'number' ? value + 1 : `${value.slice(0, -2)}${value.endsWith('A') ? 'Q' : 'A'}`
      const resealed = sealFile(replace(file, path, changed) as SampleFile, plan.log)
      const { part } = await fail(encode(resealed), trustOf(plan))
      assert.notEqual(part, 'seal', formatPath(path))
    }
  })

  test('needs a key of a log that the user gave, and nothing can be forged without it', async () => {
    const plan = createPlan('transfer')
    const logKeys = [createLog(plan.log.origin).verifierKey]
    const { part } = await fail(encode(createFile(plan)), { ...trustOf(plan), logKeys })
    assert.equal(part, 'logs[0].key')
    const [, id, publicKey] = /^.*\+([0-9a-f]{8})\+(.*)$/.exec(plan.log.verifierKey) ?? assert.fail()
    const renamed = await verifyEvidence(encode(createFile(plan)), {
      ...trustOf(plan),
      logKeys: [`earlier.example.com/log+${id}+${publicKey}`],
    })
    assert.equal(renamed.kind, 'valid', 'a log that was restored has another name, but the same public key')
    const open = await verifyEvidence(encode(createFile(plan)), { ...trustOf(plan), logKeys: [] })
    assert.ok(open.kind === 'valid' && open.unknown.some((sentence) => sentence.includes('key of a log')))
  })

  test('must be canonical JSON, in UTF-8, and not too large', async () => {
    const plan = createPlan('transfer')
    const file = createFile(plan)
    const text = new TextDecoder().decode(encode(file))
    const others = ['', '{', 'null', '[]', ` ${text}`, `${text}\n`, JSON.stringify(file), `\ufeff${text}`]
    for (const one of others) assert.equal((await fail(Buffer.from(one), trustOf(plan))).part, 'file')
    const lone = text.replace('"usr_1"', '"\\ud800"')
    assert.equal((await fail(Buffer.from(lone), trustOf(plan))).part, 'file')
    assert.equal((await fail(Buffer.alloc(64 * 1024 * 1024 + 1), trustOf(plan))).part, 'file')
    assert.equal((await fail(Buffer.from('['.repeat(1_000_000)), trustOf(plan))).part, 'file')
  })

  test('may have leaves in two logs, but not the same log in two orders', async () => {
    const plan = createPlan('transfer')
    const file = createFile(plan)
    const [log] = file.logs
    assert.ok(log !== undefined)
    const swapped = [
      { ...log, leaves: log.leaves.slice(2) },
      { ...log, leaves: log.leaves.slice(0, 2) },
    ]
    const inverted = sealFile({ ...file, logs: swapped }, plan.log)
    assert.equal((await fail(encode(inverted), trustOf(plan))).part, 'logs[1].leaves[0].position')
    const ordered = sealFile({ ...file, logs: swapped.toReversed() }, plan.log)
    assert.equal((await verifyEvidence(encode(ordered), trustOf(plan))).kind, 'valid')

    const leaves = log.leaves.map(({ content, texts }) => ({ content, texts }))
    const again = createLogEntry(plan.log, [...leaves, { content: 'other', texts: {} }])
    const forked = { ...again, leaves: again.leaves.slice(2, -1) }
    const twice = [{ ...log, leaves: log.leaves.slice(0, 2) }, forked]
    const fork = sealFile({ ...file, logs: twice }, plan.log)
    assert.equal((await fail(encode(fork), trustOf(plan))).part, 'logs[1].checkpoint')

    const next = createLog('log.example/log/eu1')
    const moved = { ...createLogEntry(next, leaves), key: next.verifierKey }
    const logs = [
      { ...log, leaves: log.leaves.slice(0, 2) },
      { ...moved, leaves: moved.leaves.slice(2) },
    ]
    const trust = { ...trustOf(plan), logKeys: [plan.log.verifierKey, next.verifierKey] }
    const result = await verifyEvidence(encode(sealFile({ ...file, logs }, next)), trust)
    assert.ok(result.kind === 'valid' && result.ownerSigned.answer === 'yes', inspect(result))
    assert.ok(result.unknown.some((sentence) => sentence.includes('several logs')))
    assert.equal((await fail(encode(sealFile({ ...file, logs }, plan.log)), trust)).part, 'seal')

    const empty = { ...moved, leaves: [] }
    const sealed = encode(sealFile({ ...file, logs: [log, empty] }, next))
    assert.equal((await verifyEvidence(sealed, trust)).kind, 'valid', 'the workspace was moved after the payment')
    const before = encode(sealFile({ ...file, logs: [empty, log] }, plan.log))
    assert.equal((await fail(before, trust)).part, 'logs[0].leaves')
  })

  test('may leave out a text, which then cannot be checked', async () => {
    const plan = createPlan('transfer')
    const file = createFile(plan)
    const path = ['logs', 0, 'leaves', 2, 'texts', 'details']
    const without = sealFile(replace(file, path, null) as SampleFile, plan.log)
    const result = await verifyEvidence(encode(without), trustOf(plan))
    assert.ok(result.kind === 'valid')
    assert.equal(result.ownerSigned.answer, 'not checked')
  })

  const surplus: Record<string, [string, (plan: Plan) => void]> = {
    'a leaf of another payment': ['logs[0].leaves[5]', (plan) => addLeaf(plan, 'ended', { subject: 'pay_2' })],
    'a second end': ['logs[0].leaves[5]', (plan) => addLeaf(plan, 'ended', {})],
    'a second payment': ['logs[0].leaves[5]', (plan) => addLeaf(plan, 'decided', { subject: 'pay_2' })],
    'a leaf of another grant': ['logs[0].leaves[5]', (plan) => addLeaf(plan, 'activated', { object: 'grt_2' })],
    'a leaf of another action': ['logs[0].leaves[5]', (plan) => addLeaf(plan, 'activated', { action: 'key.created' })],
    'a leaf of another workspace': ['logs[0].leaves[4]', (plan) => setLeaf(plan, 'ended', { workspace: 'acc_2' })],
    'a leaf of the other mode': ['logs[0].leaves[4]', (plan) => setLeaf(plan, 'ended', { mode: 'test' })],
    'a leaf that was not available': ['logs[0].leaves[5]', addUnavailable],
    'a leaf of another version': ['logs[0].leaves[4].content', (plan) => setLeaf(plan, 'ended', { v: 2 })],
    'a leaf of another type': ['logs[0].leaves[4].content', (plan) => setLeaf(plan, 'ended', { type: 'payment' })],
    'a leaf with a member more': ['logs[0].leaves[4].content', (plan) => setLeaf(plan, 'ended', { more: null })],
    'a time that does not exist': [
      'logs[0].leaves[4].content',
      (plan) => setLeaf(plan, 'ended', { at: '2026-02-30T00:00:00.000Z' }),
    ],
    'no leaf of the end': ['logs', (plan) => (plan.events = plan.events.filter(({ name }) => name !== 'ended'))],
    'no leaf of the payment': ['logs', (plan) => (plan.events = plan.events.filter(({ name }) => name !== 'decided'))],
  }
  for (const [name, [part, change]] of Object.entries(surplus)) {
    test(`is invalid with ${name}`, async () => {
      const plan = createPlan('transfer')
      change(plan)
      assert.equal((await fail(encode(createFile(plan)), trustOf(plan))).part, part)
    })
  }
})

function addLeaf(plan: Plan, name: string, changes: Record<string, Json>): void {
  const event = getLeaf(plan, name)
  plan.events.push({ ...event, leaf: { ...event.leaf, ...changes } })
}

function setLeaf(plan: Plan, name: string, changes: Record<string, Json>): void {
  const event = getLeaf(plan, name)
  event.leaf = { ...event.leaf, ...changes }
}

function addUnavailable(plan: Plan): void {
  const { v, at, workspace, salt } = getLeaf(plan, 'ended').leaf
  const common = { v: v ?? null, at: at ?? null, workspace: workspace ?? null, salt: salt ?? null }
  const leaf = { ...common, mode: null, subject: 'x', type: 'unavailable', of: 'audit' }
  plan.events.push({ name: 'unavailable', leaf: { ...leaf, mode: 'live' }, texts: {} })
}

function trustOf(plan: Plan): Trust {
  return { ownerKeys: [plan.owner.publicKeySpki], logKeys: [plan.log.verifierKey], node: null }
}

/** Verifies a file that must be invalid. */
async function fail(content: Uint8Array, trust: Trust): Promise<{ part: string; reason: string }> {
  const result = await verifyEvidence(content, trust)
  assert.ok(result.kind === 'invalid', 'the file is valid')
  assert.ok(result.reason.length > 10)
  return result
}

/**
 * Returns whether the error names the changed member, or another one of the same leaf or signature: only the proof of a leaf
 * shows that its content was changed, and only the signature that its authenticator data was.
 */
function isRelated(part: string, expected: string): boolean {
  if (part === 'file') return true
  // Without its credential, a signature has no leaf. After a larger position or time, the next one is not larger any more.
  if (expected.endsWith('.credential')) return /^(?:logs\[0\]\.leaves|signatures)\[\d\]/.test(part)
  if (expected.endsWith('.position')) return /^logs\[0\]\.leaves\[\d\]\.(?:position|proof)$/.test(part)
  if (expected.endsWith('.received_at') && part.endsWith('.received_at')) return true
  return unitOf(part) === unitOf(expected) || expected.startsWith(part)
}

function unitOf(path: string): string {
  return /^(?:logs\[\d\]\.leaves|signatures)\[\d\]/.exec(path)?.[0] ?? path
}

/** Returns the path of the value to which each byte of the canonical JSON belongs. */
function mapBytes(value: Json, path: Path = []): readonly string[] {
  const here = formatPath(path) || 'file'
  const of = (text: string): readonly string[] => Array.from(Buffer.from(text), () => here)
  if (typeof value !== 'object' || value === null) return of(JSON.stringify(value))
  const isList = Array.isArray(value)
  const names = Object.keys(value).toSorted()
  const entries = isList ? [...value.keys()].map(String) : names
  const inner = entries.flatMap((name, index) => [
    ...of(index === 0 ? '' : ','),
    ...(isList ? [] : of(`${JSON.stringify(name)}:`)),
    ...mapBytes((value as Record<string, Json>)[name] ?? null, [...path, isList ? Number(name) : name]),
  ])
  return [...of(isList ? '[' : '{'), ...inner, ...of(isList ? ']' : '}')]
}

function listPaths(value: Json, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const inner = [...path, Array.isArray(value) ? Number(name) : name]
    return [inner, ...listPaths(member, inner)]
  })
}

function formatPath(path: Path): string {
  return path
    .map((name) => (typeof name === 'number' ? `[${name}]` : `.${name}`))
    .join('')
    .replace(/^\./, '')
}

function read(value: Json, path: Path): Json {
  return path.reduce((inner: Json, name) => (inner as Record<string, Json>)[name] ?? null, value)
}

function replace(value: Json, [name, ...path]: Path, member: Json): Json {
  if (name === undefined) return member
  const inner = replace((value as Record<string, Json>)[name] ?? null, path, member)
  return Array.isArray(value)
    ? (value as Json[]).with(Number(name), inner)
    : { ...(value as Record<string, Json>), [name]: inner }
}

function remove(value: Json, path: Path): Json {
  const [owner, name] = [path.slice(0, -1), path.at(-1)]
  const container = read(value, owner)
  const rest = Array.isArray(container)
    ? container.filter((_, index) => index !== name)
    : Object.fromEntries(Object.entries(container as Record<string, Json>).filter(([one]) => one !== name))
  return replace(value, owner, rest as Json)
}
