import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue } from '../../lib/canonical-json.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { DOES_NOT_PROVE, EVIDENCE_LIST_FORMAT } from './evidence-format.ts'
import { formatLeaf, formatSeal, formatSignature } from './format-evidence.ts'
import { compareLeaves, openLogs, proveLeaves, type LoggedLeaf, type OpenLogs } from './open-logs.ts'
import { findEvidence, type Collected, type LeafWithTexts, type ProvenPayment } from './find-evidence.ts'

/** At most this many payments are proved at once. Their leaves, signatures and tiles are in memory. */
const BATCH_PAYMENTS = 100
/** What payments have in common is written again after this many others. */
const AUTHORITIES_MAX = 1_000

export interface EvidenceList {
  /** Returns the next lines, each of which ends with a newline, or null at the end. */
  next(): Promise<string | null>
}

interface Place {
  readonly workspaceId: string
  readonly mode: Mode
}

/**
 * Makes the evidence of many payments, as lines of JSON (D81). All proofs are for the checkpoint of the beginning, so
 * what happens during the export is not in it. `payments` returns the next payments, or null at the end.
 *
 * Errors: 409 `evidence_not_ready` if the log has no leaf yet.
 */
export async function listEvidence(
  ctx: Pick<Context, 'db' | 'clock' | 'transparencyLog'>,
  { payments, ...place }: Place & { readonly payments: () => Promise<readonly ProvenPayment[] | null> },
): Promise<EvidenceList> {
  const open = await openLogs(ctx, place.workspaceId)
  if (open === null) {
    throw problem('evidence_not_ready', { details: { reason: 'log_behind', retry_at: null }, retryAfterSeconds: 1 })
  }
  const hash = createHash('sha256')
  const authorities = new Authorities()
  let state: 'first' | 'payments' | 'end' = 'first'
  let waiting: ProvenPayment[] = []
  let leftOut = 0

  const readLines = async (): Promise<string> => {
    const batch = waiting.splice(0, BATCH_PAYMENTS)
    const found = await findEvidence(ctx, open, { ...place, payments: batch })
    const collected = found.filter((one) => one.kind === 'collected')
    leftOut += found.length - collected.length
    return toLines(await formatLines(ctx, open, { workspaceId: place.workspaceId, collected, authorities }))
  }
  const write = (text: string): string => {
    hash.update(text)
    return text
  }
  return {
    async next() {
      if (state === 'first') {
        state = 'payments'
        return write(toLines([{ format: EVIDENCE_LIST_FORMAT, does_not_prove: DOES_NOT_PROVE, logs: open.logs }]))
      }
      while (state === 'payments') {
        if (waiting.length === 0) waiting = [...((await payments()) ?? [])]
        if (waiting.length > 0) {
          const lines = await readLines()
          if (lines !== '') return write(lines)
        } else {
          state = 'end'
          // The seal covers what comes before it in its own line too.
          hash.update(canonicalJson({ left_out: leftOut }).slice(0, -1))
          return toLines([{ left_out: leftOut, seal: formatSeal(open, EVIDENCE_LIST_FORMAT, hash) }])
        }
      }
      return null
    },
  }
}

/** Returns the lines of payments. A line with what payments have in common precedes the first of them. */
async function formatLines(
  ctx: Pick<Context, 'db'>,
  open: OpenLogs,
  {
    workspaceId,
    collected,
    authorities,
  }: { readonly workspaceId: string; readonly collected: readonly Collected[]; readonly authorities: Authorities },
): Promise<JsonValue[]> {
  const named = collected.map((one) => ({ one, ...authorities.name(keyOf(one)) }))
  const leaves = named.flatMap(({ one, isNew }) => [...one.ownLeaves, ...(isNew ? one.sharedLeaves : [])])
  const proofs = await proveLeaves(ctx, open, { workspaceId, leaves })
  const format = (listed: readonly LeafWithTexts[]) =>
    listed.toSorted(compareLeaves).map((leaf) => ({ log: leaf.log, ...formatLeaf(leaf, proofs) }))
  return named.flatMap(({ one, authority, isNew }) => [
    ...(isNew
      ? [{ authority, leaves: format(one.sharedLeaves), signatures: one.signatures.map(formatSignature) }]
      : []),
    { authority, leaves: format(one.ownLeaves), signatures: [] },
  ])
}

/** Returns a text that is the same for payments that need the same leaves and signatures beside their own. */
function keyOf({ sharedLeaves, signatures }: Collected): string {
  const leaves = sharedLeaves.map(({ log, position }: LoggedLeaf) => `${log} ${position}`)
  const unlogged = signatures.filter(({ leaf }) => leaf === null).map(({ signature }) => signature)
  return JSON.stringify([leaves, unlogged.map(({ credentialId, challengeSha256 }) => [credentialId, challengeSha256])])
}

/** The names of what payments have in common, by `keyOf`. It remembers those that were used last. */
class Authorities {
  readonly #names = new Map<string, string>()
  #count = 0

  name(key: string): { readonly authority: string; readonly isNew: boolean } {
    const known = this.#names.get(key)
    const authority = known ?? String((this.#count += 1))
    // A map lists its keys in the order in which they were set, so the one that was used least recently is the first.
    this.#names.delete(key)
    this.#names.set(key, authority)
    const [oldest] = this.#names.keys()
    if (this.#names.size > AUTHORITIES_MAX && oldest !== undefined) this.#names.delete(oldest)
    return { authority, isNew: known === undefined }
  }
}

function toLines(values: readonly JsonValue[]): string {
  return values.map((value) => `${canonicalJson(value)}\n`).join('')
}
