import { toBase64 } from '../bytes.ts'
import { parseCanonicalJson, type Json } from '../canonical-json.ts'
import { sha256 } from '../verify-assertion.ts'
import {
  FILE_BYTES_MAX,
  listedLeaves,
  NOT_CANONICAL,
  readLogs,
  readSentences,
  readSignatures,
  type LogEntry,
} from './file.ts'
import { judgePayment, type InvalidResult, type Trust, type ValidResult } from './judge-payment.ts'
import { arrangeEvidence, openSignatureLeaves, placeSignature } from './payment-evidence.ts'
import { count, members, oneOf, text, WHOLE, wrong, type Reader } from './read.ts'
import { settle } from './settle.ts'
import { checkSentences, toInvalid } from './verify-evidence.ts'
import { no } from './verdict.ts'
import { checkPositions, verifyLeaf, type VerifiedLeaf } from './verify-leaf.ts'
import { verifyLogs, verifySeal, type VerifiedLog } from './verify-log.ts'
import { verifySignature, type VerifiedSignature } from './verify-signature.ts'

const LIST_FORMAT = 'bursar-evidence-list/1'
/** About 200,000 payments. */
export const LIST_BYTES_MAX = 512 * 1024 * 1024
/** The lines that are verified at the same time. */
const LINES_AT_ONCE = 64
/** The lines of so many payments, each under an authority of its own. */
const LINES_MAX = 500_000
export const NEWLINE = 0x0a

/** The results of an export that is whole. */
export interface ListResult {
  readonly kind: 'list'
  readonly payments: readonly ValidResult[]
  /** How many payments of the period have no evidence, or not yet. */
  readonly leftOut: number
  /** What could not be checked of some of the payments, in sentences. */
  readonly unknown: readonly string[]
  readonly logs: readonly LogEntry[]
}

interface Line {
  readonly number: number
  readonly content: Uint8Array
}

/** What the payments of an authority have in common. */
interface Shared {
  readonly leaves: readonly VerifiedLeaf[]
  readonly signatures: readonly VerifiedSignature[]
}

const readHead = members({
  format: oneOf(LIST_FORMAT),
  does_not_prove: readSentences,
  logs: readLogs,
})
const readBody = (logs: number) => members({ authority: text, leaves: listedLeaves(logs), signatures: readSignatures })
const readEnd: Reader<{ readonly left_out: number; readonly seal: string }> = (value, part) => {
  if (typeof value === 'object' && value !== null && 'authority' in value) {
    throw wrong(part, 'it is about a payment, so the last line is missing, and the export is incomplete')
  }
  return members({ left_out: count, seal: text })(value, part)
}

/**
 * Verifies an export with the evidence of many payments (docs/evidence.md). Throws nothing: if a part of the export is
 * wrong, the result names the first such part, and says nothing about any payment.
 */
export async function verifyEvidenceList(
  content: Uint8Array<ArrayBuffer>,
  trust: Trust,
): Promise<ListResult | InvalidResult> {
  try {
    if (content.length > LIST_BYTES_MAX) throw wrong(WHOLE, 'it is larger than 512 MiB')
    const ends = findEnds(content)
    const line = (number: number): Line => ({
      number,
      content: content.subarray(number === 0 ? 0 : (ends[number - 1] ?? 0) + 1, ends[number]),
    })
    const last = ends.length - 1
    if (last < 1 || ends[last] !== content.length - 1)
      throw wrong(WHOLE, 'its last line is missing, or is not complete')
    const head = readLine(line(0), readHead)
    const logs = await verifyLogs(head.logs, { trusted: trust.logKeys, part: 'lines[0].logs' })
    checkSentences(head.does_not_prove, 'lines[0].does_not_prove')
    const authorities = new Map<string, Promise<Shared>>()
    const payments: ValidResult[] = []
    const known = new Set<string>()
    const transfers = new Set<string>()
    for (let first = 1; first < last; first += LINES_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(LINES_AT_ONCE, last - first) }, (_, index) => first + index)
      const results = await Promise.allSettled(
        numbers.map((number) => verifyLine(line(number), { logs, entries: head.logs, authorities, trust })),
      )
      // The first wrong line is reported. Whether a line is wrong can depend on the lines before it.
      for (const [index, result] of results.entries()) {
        if (result.status === 'rejected') throw result.reason
        if (result.value === null) continue
        const { id } = result.value.payment
        if (known.has(id)) throw wrong(`lines[${first + index}].leaves`, 'a line before is about the same payment')
        known.add(id)
        payments.push(judgeTransfer(result.value, transfers))
      }
    }
    const { left_out: leftOut, seal } = readLine(line(last), readEnd)
    // The seal covers all bytes before the comma in front of it.
    const sealed = (ends[last - 1] ?? 0) + 1 + `{"left_out":${leftOut}`.length
    const hash = toBase64(await sha256(content.subarray(0, sealed)))
    const key = logs.at(-1)?.key
    const part = `lines[${last}].seal`
    if (key === undefined) throw wrong(part, 'there is no log')
    await verifySeal(seal, { key, format: LIST_FORMAT, hash, part })
    const unknown = [...new Set(payments.flatMap((payment) => payment.unknown))]
    return { kind: 'list', payments, leftOut, unknown, logs: head.logs }
  } catch (error) {
    return toInvalid(error)
  }
}

/** Answers whether a payment happened on the chain, if a payment before names the same transfer. */
function judgeTransfer(result: ValidResult, known: Set<string>): ValidResult {
  const { status, transaction, logIndex } = result.payment
  if (status === 'failed' || transaction === null || logIndex === null) return result
  const transfer = `${transaction} ${logIndex}`
  if (known.has(transfer)) {
    const unknown = result.unknown.filter((sentence) => sentence !== result.onChain.reason)
    return { ...result, onChain: no('A payment before in this export names the same transfer.'), unknown }
  }
  known.add(transfer)
  return result
}

/** Verifies a line. Returns the result of its payment, and null for a line that contains what payments have in common. */
async function verifyLine(
  line: Line,
  {
    logs,
    entries,
    authorities,
    trust,
  }: {
    logs: readonly VerifiedLog[]
    entries: readonly LogEntry[]
    authorities: Map<string, Promise<Shared>>
    trust: Trust
  },
): Promise<ValidResult | null> {
  const part = `lines[${line.number}]`
  const { authority, ...body } = readLine(line, readBody(logs.length))
  const given = authorities.get(authority)
  if (given !== undefined && body.signatures.length > 0) {
    throw wrong(`${part}.signatures`, 'only the first line of an authority has signatures')
  }
  const verified = verifyBody(body, { logs, part })
  if (given === undefined) {
    // The lines after this one wait for it. It is set before anything is awaited, so that none of them misses it.
    authorities.set(authority, verified)
    const { leaves } = await verified
    if (leaves.some(({ leaf }) => leaf.type === 'payment.decided')) {
      throw wrong(`${part}.leaves`, 'the first line of an authority must not contain a payment')
    }
    return null
  }
  const { leaves: own } = await verified
  if (!own.some(({ leaf }) => leaf.type === 'payment.decided')) {
    throw wrong(`${part}.leaves`, 'there is no leaf payment.decided')
  }
  const shared = await given
  const leaves = [...shared.leaves, ...own].toSorted((a, b) => a.log - b.log || a.position - b.position)
  checkPositions(leaves, logs)
  const findLeaf = openSignatureLeaves(leaves)
  const signatures = shared.signatures.map((one) => placeSignature(one, findLeaf))
  return await judgePayment(arrangeEvidence({ leaves, signatures }, `${part}.leaves`), { trust, logs: entries })
}

async function verifyBody(
  { leaves, signatures }: Omit<ReturnType<ReturnType<typeof readBody>>, 'authority'>,
  { logs, part }: { logs: readonly VerifiedLog[]; part: string },
): Promise<Shared> {
  const verified = await settle(
    leaves.map(async (leaf, index) => {
      const path = `${part}.leaves[${index}]`
      const checkpoint = logs[leaf.log]?.checkpoint
      if (checkpoint === undefined) throw wrong(`${path}.log`, 'there is no such log')
      return await verifyLeaf(leaf, { log: leaf.log, checkpoint, part: path })
    }),
  )
  // Payments place the signatures again, because their own lines may contain leaves of them.
  const findLeaf = openSignatureLeaves(verified)
  const placed = await settle(
    signatures.map(async (one, index) =>
      placeSignature(await verifySignature(one, `${part}.signatures[${index}]`), findLeaf),
    ),
  )
  return { leaves: verified, signatures: placed }
}

function readLine<Value>({ number, content }: Line, read: (value: Json, part: string) => Value): Value {
  const part = `lines[${number}]`
  if (content.length > FILE_BYTES_MAX) throw wrong(part, 'it is larger than 64 MiB')
  const value = parseCanonicalJson(content)
  if (value === undefined) throw wrong(part, NOT_CANONICAL)
  return read(value, part)
}

function findEnds(content: Uint8Array): readonly number[] {
  const ends = []
  for (let at = content.indexOf(NEWLINE); at >= 0; at = content.indexOf(NEWLINE, at + 1)) {
    if (ends.length === LINES_MAX) throw wrong(WHOLE, 'it has too many lines')
    ends.push(at)
  }
  return ends
}
