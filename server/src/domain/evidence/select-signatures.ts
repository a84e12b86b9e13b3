import { parseJson } from '../../lib/parse-json.ts'
import type { StoredSignature } from '../owner-signatures/owner-signatures-store.ts'
import type { Payment } from '../payments/payment.ts'
import { compareLeaves, isBefore, type LoggedLeaf } from './open-logs.ts'

/** A signature, and its leaf. The leaf is missing if the signature was kept before there were such leaves. */
export interface SignatureWithLeaf {
  readonly signature: StoredSignature
  readonly leaf: LoggedLeaf | null
  /** The grants that a signature resumed, by their ids, and since when each was suspended. */
  readonly resumed: ReadonlyMap<string, ResumedGrant>
}

interface ResumedGrant {
  readonly id: string
  readonly agent_id: string
  readonly suspended_at: string
}

/** When something happened: by its leaf, or by the clock of the service if it has none. */
interface Moment {
  readonly leaf: LoggedLeaf | null
  readonly at: Date
}

/** What suspended a grant, and the signature that resumed it. */
export interface Suspension {
  readonly suspended: LoggedLeaf
  readonly resumed: SignatureWithLeaf | null
}

/**
 * Finds what suspended a grant last before a payment, and the last signature that resumed it. `suspensions` are the
 * leaves of what may have suspended the grant. A stop does not suspend a grant that was suspended already, so the
 * statement of the signature says which of them did.
 */
export function findSuspension(
  grantId: string,
  {
    decided,
    suspensions,
    signatures,
  }: {
    readonly decided: LoggedLeaf
    readonly suspensions: readonly LoggedLeaf[]
    readonly signatures: readonly SignatureWithLeaf[]
  },
): Suspension | null {
  const before = suspensions.filter((leaf) => isBefore(leaf, decided)).toSorted(compareLeaves)
  const resumptions = selectBefore(signatures, decided).flatMap((one) => {
    const suspendedAt = one.resumed.get(grantId)?.suspended_at
    return suspendedAt === undefined ? [] : [{ one, suspendedAt }]
  })
  const last = resumptions.toSorted((a, b) => (precedes(momentOf(a.one), momentOf(b.one)) ? -1 : 1)).at(-1)
  // Whatever came after the last signature was not ended by one.
  const open = before.find((leaf) => last === undefined || precedes(momentOf(last.one), momentOfLeaf(leaf)))
  if (open !== undefined) return { suspended: open, resumed: null }
  const suspended = before.find((leaf) => momentOfLeaf(leaf).at.toISOString() === last?.suspendedAt)
  return suspended === undefined || last === undefined ? null : { suspended, resumed: last.one }
}

/**
 * Selects the signatures that allowed a payment, in the order in which they were received. `decided` is the leaf of the
 * payment.
 */
export function selectSignatures(
  { id, grantId, walletAddress }: Pick<Payment, 'id' | 'grantId' | 'walletAddress'>,
  {
    decided,
    resumed,
    signatures,
  }: {
    readonly decided: LoggedLeaf
    readonly resumed: SignatureWithLeaf | null
    readonly signatures: readonly SignatureWithLeaf[]
  },
): SignatureWithLeaf[] {
  const before = selectBefore(signatures, decided)
  const ofKind = (kind: StoredSignature['kind'], subject: string): SignatureWithLeaf[] =>
    before.filter(({ signature }) => signature.kind === kind && signature.subject === subject)

  const authority = grantId === null ? ofKind('withdrawal', id).at(-1) : ofKind('grant', grantId).at(-1)
  const owners = ofKind('owners', walletAddress)
  const records = ofKind('record', walletAddress)
  // Each passkey has its own record. That of the authority is the one before it, and the others are those before the
  // last change of owners by this passkey.
  const byPasskey = new Map([...owners, authority].flatMap((one) => (one === undefined ? [] : [[passkeyOf(one), one]])))
  const recordsOf = [...byPasskey].map(([passkey, signed]) =>
    records.findLast((one) => passkeyOf(one) === passkey && precedes(momentOf(one), momentOf(signed))),
  )
  const needed = new Set([authority, resumed, ...owners, ...recordsOf])
  return before.filter((one) => needed.has(one))
}

function passkeyOf({ signature }: SignatureWithLeaf): string {
  return signature.credentialId
}

/** Selects the signatures that can be proved to be before a payment, in the order in which they were received. */
function selectBefore(signatures: readonly SignatureWithLeaf[], decided: LoggedLeaf): SignatureWithLeaf[] {
  return signatures
    .filter(isProvable)
    .filter((one) => precedes(momentOf(one), momentOfLeaf(decided)))
    .toSorted(compareSignatures)
}

/** Returns whether a signature is still there, and has its leaf unless it was kept before there were such leaves. */
function isProvable({ signature, leaf }: SignatureWithLeaf): boolean {
  return !signature.isLost && (leaf !== null || signature.entrySha256 === null)
}

/**
 * Returns the grants that a signature resumed, by their ids. Many payments can need the same statement, which can name
 * thousands of grants, so it is read once.
 */
export function readResumed({ kind, statement }: StoredSignature): ReadonlyMap<string, ResumedGrant> {
  if (kind !== 'resume' || statement === null) return new Map()
  const { grants } = parseJson(Buffer.from(statement).toString()) as { readonly grants: readonly ResumedGrant[] }
  return new Map(grants.map((grant) => [grant.id, grant]))
}

/** Returns whether one moment is not after another. One transaction has one time, so equal times say nothing. */
function precedes(one: Moment, other: Moment): boolean {
  if (one.leaf !== null && other.leaf !== null) return isBefore(one.leaf, other.leaf)
  return one.at <= other.at
}

/** Returns the order in which signatures were received. At the same time, that of their leaves counts. */
function compareSignatures(one: SignatureWithLeaf, other: SignatureWithLeaf): number {
  const difference = one.signature.receivedAt.getTime() - other.signature.receivedAt.getTime()
  if (difference !== 0 || one.leaf === null || other.leaf === null) return difference
  return compareLeaves(one.leaf, other.leaf)
}

function momentOf({ signature, leaf }: SignatureWithLeaf): Moment {
  return { leaf, at: signature.receivedAt }
}

function momentOfLeaf(leaf: LoggedLeaf): Moment {
  const { at } = parseJson(leaf.content) as { readonly at: string }
  return { leaf, at: new Date(at) }
}
