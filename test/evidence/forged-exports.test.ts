import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { canonicalJson, type JsonValue } from '../../server/src/lib/canonical-json.ts'
import { DOES_NOT_PROVE } from '../../signer/src/evidence/does-not-prove.ts'
import { flipBytes, removeMembers } from './changed-files.ts'
import {
  activated,
  audit,
  createOwner,
  decided,
  ended,
  leavesOf,
  signGrant,
  signRecord,
  signResume,
  signWithdrawal,
  WITHDRAWN,
  type Part,
} from './forged-file.ts'
import { ForgedLog, type ForgedLeaf } from './forged-log.ts'
import type { Verdict } from './python-verifier.ts'
import { openVerifiers, type Verifiers } from './verifiers.ts'

/** What payments share, and the payments. */
interface Authority {
  readonly shared: readonly Part[]
  readonly payments: readonly (readonly Part[])[]
}

const FLIPPED_STEP = 211
/** The head, what payments share, and a payment. */
const CHECKED_LINES = 3

describe('an export of the evidence of many payments', () => {
  const owner = createOwner()
  const given = { ownerKeys: [owner.publicKeySpki] }
  const log = new ForgedLog()
  const granted = [signRecord(owner), signGrant(owner), activated()] as const
  const about = (
    subject: string,
    { again, ...change }: Parameters<typeof decided>[0] & { readonly again?: string } = {},
  ): readonly [Part, Part] => [
    decided({ subject, ...change }),
    // The position of the transfer is the number of the payment, so `again` names the transfer of another one.
    ended({ subject, log_index: again ?? subject.slice(-1) }),
  ]
  const [first, second, above] = [about('pay_5'), about('pay_2'), about('pay_3', { amount: '10000001' })]
  const suspended = [audit('grant.suspended'), signResume(owner)]
  const resumed = about('pay_4', { again: '2' })
  const withdrawal = [signRecord(owner), signWithdrawal(owner, {}, { reference_id: 'pay_1' })]
  const withdrawn = about('pay_1', WITHDRAWN)
  const all: readonly Authority[] = [
    { shared: granted, payments: [first, second, above] },
    { shared: [...granted, ...suspended], payments: [resumed] },
    { shared: withdrawal, payments: [withdrawn] },
  ]
  log.add(
    ...leavesOf([...granted, ...first, ...second, ...above, ...suspended, ...resumed, ...withdrawal, ...withdrawn]),
  )
  const lines = toLines(all, log)
  let verifiers: Verifiers
  before(() => {
    verifiers = openVerifiers()
  })
  after(() => verifiers.close())

  test('gives the answers about each payment', async () => {
    const verdict = await verifiers.verify(sealLines(lines, log), given)
    assert.ok(verdict.valid && 'payments' in verdict)
    assert.equal(verdict.left_out, 2)
    assert.deepEqual(
      verdict.payments.map((one) => [one.payment, one.owner_signed, one.within_limits, one.on_chain]),
      [
        ['pay_5', 'yes', 'yes', 'not checked'],
        ['pay_2', 'yes', 'yes', 'not checked'],
        ['pay_3', 'yes', 'no', 'not checked'],
        // It names the transfer of `pay_2`.
        ['pay_4', 'yes', 'yes', 'no'],
        ['pay_1', 'yes', 'yes', 'not checked'],
      ],
    )
  })

  test('that was changed in a byte is invalid, and both verifiers name the same part', async () => {
    const text = sealLines(lines, log)
    const changed = flipBytes(text).filter(({ file }, index) => index % FLIPPED_STEP === 0 && file.at(-1) === 0x0a)
    for (const { name, file } of changed) await refuse(file, name)
  })

  test('that lacks a member or a line is invalid, also if the service made it so', async () => {
    for (const [index, line] of lines.slice(0, CHECKED_LINES).entries()) {
      for (const { name, file } of removeMembers(canonicalJson(line))) {
        const other = JSON.parse(file.toString()) as JsonValue
        const verdict = await verifiers.verify(sealLines(lines.with(index, other), log), given)
        // Without an element, a list is another list, which may be in order.
        const isMember = !/\.\d+$/.test(name)
        if (isMember) assert.ok(!verdict.valid && verdict.part.startsWith(`lines[${index}]`), name)
      }
    }
    const text = sealLines(lines, log)
    for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
      await refuse(text.replace(`${line}\n`, ''), `without line ${index}`)
    }
    const fewer = text.replace('"left_out":2', '"left_out":1')
    assert.match(await refuse(fewer, 'fewer payments left out'), /\.seal$/)
  })

  test('may have the leaf of a signature in the line of the payment', async () => {
    const [record, grant, active] = granted
    const shared = [record, { entry: grant.entry, leaf: null }, active]
    const apart = toLines([{ shared, payments: [[{ leaf: grant.leaf }, ...first]] }], log)
    const verdict = await verifiers.verify(sealLines(apart, log), given)
    assert.ok(verdict.valid && 'payments' in verdict)
    assert.equal(verdict.payments[0]?.owner_signed, 'yes')
    const changed = [record, { entry: { ...grant.entry, user: 'usr_2' }, leaf: null }, active]
    const wrong = toLines([{ shared: changed, payments: [[{ leaf: grant.leaf }, ...first]] }], log)
    assert.equal(await refuse(sealLines(wrong, log), 'changed'), 'lines[1].signatures[1]')
  })

  test('is invalid if a signature was changed that no payment needs', async () => {
    const [record, grant, active] = granted
    const changed = [record, { ...grant, entry: { ...grant.entry, user: 'usr_2' } }, active]
    const unused = toLines([{ shared: changed, payments: [] }], log)
    assert.equal(await refuse(sealLines(unused, log), 'unused'), 'lines[1].signatures[1]')
  })

  for (const [count, expected] of [
    [100, true],
    [101, 'lines[0].logs'],
  ] as const) {
    test(`of ${count} logs is ${expected === true ? 'valid' : 'not valid'}`, async () => {
      const [started, ...others] = lines as readonly { readonly logs: readonly JsonValue[] }[]
      const logs = Array.from({ length: count }, () => started?.logs[0] ?? null)
      const verdict = await verifiers.verify(sealLines([{ ...started, logs }, ...(others as never)], log), given)
      assert.equal(verdict.valid || verdict.part, expected)
    })
  }

  const [head = null, grantLine = null, firstLine = null] = lines
  const wrong: Readonly<Record<string, readonly [readonly JsonValue[], string]>> = {
    'a payment before what it shares': [[head, firstLine, grantLine], 'lines[1].leaves'],
    'what payments share twice': [[head, grantLine, grantLine, firstLine], 'lines[2].signatures'],
    'the same payment in both lines': [
      [head, { ...(grantLine as object), ...pick(firstLine, 'leaves') }],
      'lines[1].leaves',
    ],
    'the same payment twice': [[head, grantLine, firstLine, firstLine], 'lines[3].leaves'],
    'the same payment twice, and then a line that is wrong': [
      [head, grantLine, firstLine, firstLine, { ...(firstLine as object), authority: 'x' }],
      'lines[3].leaves',
    ],
    'a line of another authority': [[head, grantLine, { ...(firstLine as object), authority: 'x' }], 'lines[2].leaves'],
  }
  for (const [name, [changed, part]] of Object.entries(wrong)) {
    test(`with ${name} is invalid, although the service made it so`, async () => {
      assert.equal(await refuse(sealLines(changed, log), name), part)
    })
  }

  async function refuse(file: string | Uint8Array, name: string): Promise<string> {
    const verdict: Verdict = await verifiers.verify(file, given)
    assert.ok(!verdict.valid, name)
    return verdict.part
  }
})

function pick(line: JsonValue, name: string): { readonly [name: string]: JsonValue } {
  return { [name]: (line as { readonly [name: string]: JsonValue })[name] ?? null }
}

function toLines(authorities: readonly Authority[], log: ForgedLog): readonly JsonValue[] {
  const toLeaf = (leaf: ForgedLeaf): JsonValue => ({ ...log.prove(leaf), log: 0 })
  const head = {
    format: 'bursar-evidence-list/1',
    does_not_prove: DOES_NOT_PROVE,
    logs: [{ checkpoint: log.checkpoint(), key: log.signer.verifierKey }],
  }
  const further = authorities.flatMap(({ shared, payments }, index): JsonValue[] => [
    {
      authority: String(index),
      leaves: leavesOf(shared).map(toLeaf),
      signatures: shared.flatMap(({ entry }) => (entry === undefined ? [] : [entry])),
    },
    ...payments.map((parts) => ({ authority: String(index), leaves: leavesOf(parts).map(toLeaf), signatures: [] })),
  ])
  return [head, ...further]
}

function sealLines(lines: readonly JsonValue[], { signer }: ForgedLog): string {
  const text = lines.map((line) => `${canonicalJson(line)}\n`).join('')
  const digest = createHash('sha256').update(`${text}{"left_out":2`).digest('base64')
  const seal = signer.sign(`bursar-evidence-list/1\n${digest}\n`)
  return `${text}${canonicalJson({ left_out: 2, seal })}\n`
}
