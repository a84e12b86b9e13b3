import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import type { InvalidResult, Trust } from '../../signer/src/evidence/judge-payment.ts'
import { verifyEvidenceList, type ListResult } from '../../signer/src/evidence/verify-evidence-list.ts'
import { createLog, createList, createListLines, type ListSample, type Members } from './evidence-sample.ts'

/** One of so many bytes is changed. */
const STEP = 17
const PAYMENTS = 70

describe('an export with the evidence of many payments', () => {
  test('is valid, and gives the answers for each payment', async () => {
    const sample = createListLines(PAYMENTS)
    const result = await verify(createList(sample), sample)
    assert.ok(result.kind === 'list', inspect(result))
    const { payments: answers, leftOut, logs } = result
    assert.deepEqual([leftOut, logs], [3, sample.logs])
    assert.deepEqual(
      answers.map(({ payment }) => payment.id),
      ['pay_1', ...Array.from({ length: PAYMENTS }, (_, index) => `pay_${index + 2}`)],
    )
    // The withdrawal was signed by another owner.
    const owners = answers.map(({ ownerSigned, withinLimits }) => [ownerSigned.answer, withinLimits.answer])
    assert.deepEqual(owners, [['no', 'not checked'], ...answers.slice(1).map(() => ['yes', 'yes'])])
  })

  test('names every byte that was changed', async () => {
    const sample = createListLines(2)
    const content = Buffer.from(createList(sample))
    let line = 0
    for (let at = 0; at < content.length; at += 1) {
      const number = line
      if (content[at] === 0x0a) line += 1
      if (at % STEP !== 0 && number !== 0) continue
      const changed = Buffer.from(content)
      changed[at] = (changed[at] ?? 0) ^ 1
      const part = await fail(changed, sample)
      const names = /^lines\[(\d+)\]/.exec(part)?.[1]
      // If what payments have in common is named otherwise, the line of a payment is the first that is wrong.
      assert.ok(part === 'file' || Number(names) >= number, `${at}: ${part}`)
    }
    assert.equal(line, content.toString().split('\n').length - 1)
  })

  test('cannot be cut, put together or put into another order', async () => {
    const sample = createListLines(2)
    const [head = '', ...lines] = createList(sample).trimEnd().split('\n')
    const end = lines.pop() ?? ''
    const join = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('')
    const [grant = '', withdrawal = '', paid = '', first = '', second = ''] = lines
    const fails: readonly (readonly [string, string])[] = [
      [join(head, grant, withdrawal, paid, first, end), 'lines[5].seal'],
      [join(head, ...lines, end.replace('"left_out":3', '"left_out":0')), 'lines[6].seal'],
      [join(head, grant, withdrawal, paid, first, second, second, end), 'lines[6].leaves'],
      [join(head, grant, withdrawal, paid, second, first, end), 'lines[6].seal'],
      [join(head, grant, paid, withdrawal, first, second, end), 'lines[2].leaves'],
      [join(head, withdrawal, paid, first, second, end), 'lines[3].leaves'],
      [join(head, grant, grant, end), 'lines[2].signatures'],
      [join(head, grant, withdrawal, paid, first, second), 'lines[5]'],
      [join(head, grant, end, end), 'lines[2]'],
      [join(head, end).trimEnd(), 'file'],
      [join(head), 'file'],
      ['', 'file'],
      [join(head, '', end), 'lines[1]'],
      [`${join(head, ...lines, end)}\n`, 'lines[6]'],
    ]
    for (const [text, part] of fails) assert.equal(await fail(Buffer.from(text), sample), part, text.slice(0, 20))
  })

  test('is invalid if a line was changed and somebody with the key of the log sealed it again', async () => {
    const sample = createListLines(2)
    const change = (number: number, changes: Members): ListSample => ({
      ...sample,
      lines: sample.lines.map((line, index) => (index === number ? { ...line, ...changes } : line)),
    })
    const shared = sample.lines[0] ?? {}
    const { leaves, signatures } = shared as { leaves: Members[]; signatures: Members[] }
    const cases: readonly (readonly [ListSample, string])[] = [
      [change(0, { leaves: leaves.toReversed() }), 'lines[1].leaves[1].position'],
      [change(0, { leaves: leaves.map((leaf) => ({ ...leaf, log: 1 })) }), 'lines[1].leaves[0].log'],
      [change(0, { signatures: signatures.toReversed() }), 'lines[1].signatures[1].received_at'],
      [change(3, { authority: 'pay_1' }), 'lines[2].signatures[1]'],
      [change(3, { leaves: [...leaves.slice(0, 1), ...leavesOf(sample, 3)] }), 'lines[4].leaves[0].position'],
      [change(3, { leaves: leavesOf(sample, 3).slice(1) }), 'lines[4].leaves'],
      [change(3, { leaves: leavesOf(sample, 3).slice(0, 1) }), 'lines[4].leaves'],
      [change(3, { more: 1 }), 'lines[4]'],
    ]
    for (const [changed, part] of cases) assert.equal(await fail(Buffer.from(createList(changed)), sample), part)
  })

  test('needs a key of a log that the user gave', async () => {
    const sample = createListLines(1)
    const logKeys = [createLog(sample.plan.log.origin).verifierKey]
    const result = await verify(createList(sample), sample, { logKeys })
    assert.ok(result.kind === 'invalid' && result.part === 'lines[0].logs[0].key')
  })
})

function leavesOf({ lines }: ListSample, number: number): Members[] {
  return (lines[number] as { leaves: Members[] }).leaves
}

async function verify(
  text: string | Uint8Array<ArrayBuffer>,
  { plan }: ListSample,
  changes: Partial<Trust> = {},
): Promise<ListResult | InvalidResult> {
  const content = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const ownerKeys = [plan.owner.publicKeySpki]
  return await verifyEvidenceList(content, { ownerKeys, logKeys: [plan.log.verifierKey], node: null, ...changes })
}

/** Verifies an export that must be invalid. Returns the part that is wrong. */
async function fail(content: Buffer<ArrayBuffer>, sample: ListSample): Promise<string> {
  const result = await verify(new Uint8Array(content), sample)
  assert.ok(result.kind === 'invalid', 'the export is valid')
  return result.part
}
