import { createHash, type Hash } from 'node:crypto'
import { formatSignatureEntry, type SignatureEntry } from '../owner-signatures/evidence-entry.ts'
import type { LeafWithTexts } from './find-evidence.ts'
import type { LoggedLeaf, OpenLogs } from './open-logs.ts'
import type { SignatureWithLeaf } from './select-signatures.ts'

/** Formats a leaf as evidence contains it. */
export function formatLeaf(leaf: LeafWithTexts, proofs: ReadonlyMap<LoggedLeaf, readonly Buffer[]>) {
  const proof = proofs.get(leaf)
  if (proof === undefined) throw new Error(`the leaf ${leaf.position} was not proved`)
  const { content, position, texts } = leaf
  return { content, position, proof: proof.map((hash) => hash.toString('base64url')), texts }
}

/** Formats a signature as evidence contains it. */
export function formatSignature({ signature }: SignatureWithLeaf): SignatureEntry {
  const { assertion } = signature
  if (assertion === null) throw new Error('the signature is still encrypted')
  return formatSignatureEntry({ ...signature, assertion })
}

/** Returns the signed note that seals what was hashed. Its first line is no origin of a log, so it is no checkpoint. */
export function formatSeal(open: OpenLogs, format: string, hash: Hash): string {
  return open.sign(`${format}\n${hash.digest('base64')}\n`)
}

export function hashOf(text: string): Hash {
  return createHash('sha256').update(text)
}
