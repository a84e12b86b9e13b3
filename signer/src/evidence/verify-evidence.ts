import { toBase64 } from '../bytes.ts'
import { canonicalJson, type Json } from '../canonical-json.ts'
import { sha256 } from '../verify-assertion.ts'
import { DOES_NOT_PROVE } from './does-not-prove.ts'
import { EvidenceError } from './evidence-error.ts'
import { FILE_FORMAT, parseFile, type EvidenceFile } from './file.ts'
import { judgePayment, type InvalidResult, type Trust, type ValidResult } from './judge-payment.ts'
import { arrangeEvidence, openSignatureLeaves, placeSignature } from './payment-evidence.ts'
import { wrong } from './read.ts'
import { settle } from './settle.ts'
import { checkPositions, verifyLeaf } from './verify-leaf.ts'
import { verifyLogs, verifySeal, type VerifiedLog } from './verify-log.ts'
import { verifySignature } from './verify-signature.ts'

/**
 * Verifies a file with the evidence of one payment (docs/evidence.md), without the service. Throws nothing: if a part of
 * the file is wrong, the result names it.
 */
export async function verifyEvidence(content: Uint8Array, trust: Trust): Promise<ValidResult | InvalidResult> {
  try {
    const { file, value } = parseFile(content)
    const logs = await verifyLogs(file.logs, { trusted: trust.logKeys, part: 'logs' })
    const leaves = await settle(
      logs.flatMap(({ checkpoint }, log) =>
        (file.logs[log]?.leaves ?? []).map((leaf, index) =>
          verifyLeaf(leaf, { log, checkpoint, part: `logs[${log}].leaves[${index}]` }),
        ),
      ),
    )
    checkPositions(leaves, logs)
    const findLeaf = openSignatureLeaves(leaves)
    const signatures = await settle(
      file.signatures.map(async (one, index) =>
        placeSignature(await verifySignature(one, `signatures[${index}]`), findLeaf),
      ),
    )
    const evidence = arrangeEvidence({ leaves, signatures }, 'logs')
    checkSentences(file.does_not_prove, 'does_not_prove')
    await checkSeal(file, { value, logs })
    return await judgePayment(evidence, { trust, logs: file.logs })
  } catch (error) {
    return toInvalid(error)
  }
}

export function checkSentences(sentences: readonly string[], part: string): void {
  const isSame = sentences.length === DOES_NOT_PROVE.length && DOES_NOT_PROVE.every((one, at) => one === sentences[at])
  if (!isSame) throw wrong(part, 'the sentences that say what evidence does not prove were changed')
}

/** Anything but an `EvidenceError` is a fault of this program, and says nothing about the file. */
export function toInvalid(error: unknown): InvalidResult {
  if (error instanceof EvidenceError) return { kind: 'invalid', part: error.part, reason: error.reason }
  return { kind: 'invalid', part: 'file', reason: `this program could not read it: ${String(error)}` }
}

async function checkSeal(
  { seal }: EvidenceFile,
  { value, logs }: { value: Json; logs: readonly VerifiedLog[] },
): Promise<void> {
  const key = logs.at(-1)?.key
  if (key === undefined || typeof value !== 'object' || value === null) throw wrong('seal', 'there is no log')
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'seal'))
  const hash = toBase64(await sha256(new TextEncoder().encode(canonicalJson(rest))))
  await verifySeal(seal, { key, format: FILE_FORMAT, hash, part: 'seal' })
}
