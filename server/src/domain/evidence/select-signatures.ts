import type { StoredSignature } from '../owner-signatures/owner-signatures-store.ts'
import { isBefore, type LoggedLeaf } from './logged-leaves.ts'

/** A signature, and its leaf. The leaf is missing if the signature was kept before there were such leaves. */
export interface LoggedSignature {
  readonly signature: StoredSignature
  readonly leaf: LoggedLeaf | null
}

/** When something happened: by its leaf, or by the clock of the service if it has none. */
interface Moment {
  readonly leaf: LoggedLeaf | null
  readonly at: Date
}

/** For what evidence needs signatures. */
interface Purpose {
  readonly id: string
  readonly grantId: string | null
  readonly walletAddress: string
}

/**
 * Selects the signatures that allowed a payment, in the order of their leaves. Those without a leaf come first, in the
 * order in which they were received. `decided` is the leaf of the payment; `suspension` is that of what suspended the
 * grant last, if the payment needs that somebody resumed it.
 */
export function selectSignatures(
  { id, grantId, walletAddress }: Purpose,
  {
    decided,
    suspension,
    signatures,
  }: {
    readonly decided: LoggedLeaf
    readonly suspension: LoggedLeaf | null
    readonly signatures: readonly LoggedSignature[]
  },
): LoggedSignature[] {
  const decision = momentOfLeaf(decided)
  const before = signatures
    .filter(isProvable)
    .filter((one) => precedes(momentOf(one), decision))
    .toSorted(compareSignatures)
  const ofKind = (kind: StoredSignature['kind'], subject: string): LoggedSignature[] =>
    before.filter(({ signature }) => signature.kind === kind && signature.subject === subject)

  const authority = grantId === null ? ofKind('withdrawal', id).at(-1) : ofKind('grant', grantId).at(-1)
  const record = ofKind('record', walletAddress)
    .filter((one) => authority !== undefined && precedes(momentOf(one), momentOf(authority)))
    .findLast(({ signature }) => signature.credentialId === authority?.signature.credentialId)
  const resumption = before
    .filter((one) => suspension !== null && precedes(momentOfLeaf(suspension), momentOf(one)))
    .findLast(({ signature }) => grantId !== null && names(signature, grantId))
  const needed = new Set([authority, record, resumption, ...ofKind('owners', walletAddress)])
  return before.filter((one) => needed.has(one))
}

/** Returns whether a signature is still there, and has its leaf unless it was kept before there were such leaves. */
function isProvable({ signature, leaf }: LoggedSignature): boolean {
  return !signature.isLost && (leaf !== null || signature.entrySha256 === null)
}

/** Returns whether a signature resumed a grant: whether its statement lists it. */
function names({ kind, statement }: StoredSignature, grantId: string): boolean {
  if (kind !== 'resume' || statement === null) return false
  const { grants } = JSON.parse(Buffer.from(statement).toString()) as { readonly grants: readonly { id: string }[] }
  return grants.some(({ id }) => id === grantId)
}

/** Returns whether one moment is not after another. One transaction has one time, so equal times say nothing. */
function precedes(one: Moment, other: Moment): boolean {
  if (one.leaf !== null && other.leaf !== null) return isBefore(one.leaf, other.leaf)
  return one.at <= other.at
}

function compareSignatures(one: LoggedSignature, other: LoggedSignature): number {
  if (one.leaf !== null && other.leaf !== null) return isBefore(one.leaf, other.leaf) ? -1 : 1
  if (one.leaf !== null || other.leaf !== null) return one.leaf === null ? -1 : 1
  return one.signature.receivedAt.getTime() - other.signature.receivedAt.getTime()
}

function momentOf({ signature, leaf }: LoggedSignature): Moment {
  return { leaf, at: signature.receivedAt }
}

function momentOfLeaf(leaf: LoggedLeaf): Moment {
  const { at } = JSON.parse(leaf.content) as { readonly at: string }
  return { leaf, at: new Date(at) }
}
