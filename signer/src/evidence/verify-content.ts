import type { InvalidResult, Trust, ValidResult } from './judge-payment.ts'
import { verifyEvidence } from './verify-evidence.ts'
import { NEWLINE, verifyEvidenceList, type ListResult } from './verify-evidence-list.ts'

/** Verifies the evidence of a payment, or an export with the evidence of many: only an export ends with a newline. */
export async function verifyContent(
  content: Uint8Array<ArrayBuffer>,
  trust: Trust,
): Promise<ValidResult | ListResult | InvalidResult> {
  return content.at(-1) === NEWLINE ? await verifyEvidenceList(content, trust) : await verifyEvidence(content, trust)
}
