import { toBase64Url } from '../bytes.ts'
import {
  parseDetails,
  type AuditLeaf,
  type DecidedLeaf,
  type EndedLeaf,
  type Leaf,
  type SignatureKind,
  type SignatureLeaf,
} from './leaf.ts'
import { wrong } from './read.ts'
import { isBefore, type VerifiedLeaf } from './verify-leaf.ts'
import type { VerifiedSignature } from './verify-signature.ts'

/** The verified leaves and signatures of one payment, by what they say. */
export interface PaymentEvidence {
  readonly decided: VerifiedLeaf<DecidedLeaf>
  readonly ended: VerifiedLeaf<EndedLeaf>
  readonly activated: VerifiedLeaf<AuditLeaf> | null
  /** The last suspension of the grant before the payment. */
  readonly suspended: VerifiedLeaf<AuditLeaf> | null
  readonly revoked: VerifiedLeaf<AuditLeaf> | null
  /** The signature of the grant or of the withdrawal. */
  readonly authority: PlacedSignature | null
  /** The wallet's record by the passkey of the authority. */
  readonly record: PlacedSignature | null
  readonly resumption: PlacedSignature | null
  /** All signatures, in the order in which the service received them. */
  readonly signatures: readonly PlacedSignature[]
}

export interface PlacedSignature extends VerifiedSignature {
  /** Null if the signature was kept before signatures had leaves. */
  readonly leaf: VerifiedLeaf<SignatureLeaf> | null
}

/** What a leaf is in the evidence of a payment. */
type Role = 'decided' | 'ended' | 'answered' | 'activated' | 'suspended' | 'revoked'

/** A map, because an object also has members such as `constructor`. */
const ROLES_OF_ACTIONS: ReadonlyMap<string, Role> = new Map([
  ['grant.activated', 'activated'],
  ['grant.suspended', 'suspended'],
  ['grant.revoked', 'revoked'],
])

/**
 * Checks that leaves and signatures are those that the evidence of one payment may contain, and says what each of them is.
 * Throws an `EvidenceError` that names the first one that does not belong there. `part` is where the leaves are.
 */
export function arrangeEvidence(
  { leaves, signatures }: { leaves: readonly VerifiedLeaf[]; signatures: readonly PlacedSignature[] },
  part: string,
): PaymentEvidence {
  const decided = leaves.find((one) => isOf(one, 'payment.decided'))
  if (decided === undefined) throw wrong(part, 'there is no leaf payment.decided')
  const found = arrangeLeaves(leaves, { decided, signatures })
  const ended = found.get('ended')
  if (ended === undefined || !isOf(ended, 'payment.ended')) throw wrong(part, 'there is no leaf payment.ended')
  return {
    decided,
    ended,
    activated: findAudit(found, 'activated'),
    suspended: findAudit(found, 'suspended'),
    revoked: findAudit(found, 'revoked'),
    ...arrangeSignatures(signatures, decided.leaf),
    signatures,
  }
}

/** Finds the leaf of a signature, by its subject. */
export type FindLeaf = (subject: string) => VerifiedLeaf<SignatureLeaf> | null

/** Looks for the leaves of signatures in these leaves. Of two with the same subject, it finds the first. */
export function openSignatureLeaves(leaves: readonly VerifiedLeaf[]): FindLeaf {
  const ofSignatures = leaves.filter((one) => isOf(one, 'signature')).toReversed()
  const bySubject = new Map(ofSignatures.map((one) => [one.leaf.subject, one]))
  return (subject) => bySubject.get(subject) ?? null
}

/**
 * Finds the leaf of a signature, and checks that it says the same as the signature. Throws an `EvidenceError` that names
 * the signature if its leaf says something else.
 */
export function placeSignature(signature: VerifiedSignature, findLeaf: FindLeaf): PlacedSignature {
  const { entry, subject, entryHash, part } = signature
  const found = findLeaf(subject)
  if (found === null) return { ...signature, leaf: null }
  const { leaf } = found
  const isSame =
    toBase64Url(leaf.signature_sha256) === entryHash &&
    leaf.kind === entry.kind &&
    leaf.mode === entry.mode &&
    leaf.workspace === entry.workspace &&
    leaf.object === entry.subject &&
    leaf.credential === entry.credential
  if (!isSame) {
    throw wrong(part, 'its leaf in the log is of other content: the signature or what it is for was changed')
  }
  return { ...signature, leaf: found }
}

function arrangeLeaves(
  leaves: readonly VerifiedLeaf[],
  { decided, signatures }: { decided: VerifiedLeaf<DecidedLeaf>; signatures: readonly PlacedSignature[] },
): ReadonlyMap<Role, VerifiedLeaf> {
  const { workspace, mode } = decided.leaf
  const placed = new Set(signatures.map(({ leaf }) => leaf))
  const found = new Map<Role, VerifiedLeaf>()
  for (const one of leaves) {
    const { leaf, part } = one
    if (leaf.workspace !== workspace) throw wrong(part, 'the leaf is of another workspace than the payment')
    if (leaf.mode !== mode && !(leaf.type === 'audit' && leaf.mode === null)) {
      throw wrong(part, 'the leaf is of another mode than the payment')
    }
    if (isOf(one, 'signature')) {
      if (!placed.has(one)) throw wrong(part, 'it is the leaf of no signature here, or there is another one')
      continue
    }
    const role = roleOf(one, decided.leaf)
    if (role === null) throw wrong(part, 'the leaf does not belong to the evidence of this payment')
    if (found.has(role)) throw wrong(part, 'there is another leaf of this kind')
    if (role === 'suspended' && !isBefore(one, decided)) throw wrong(part, 'the suspension is after the payment')
    found.set(role, one)
  }
  const [activated, suspended] = [found.get('activated'), found.get('suspended')]
  if (activated !== undefined && suspended !== undefined && !isBefore(activated, suspended)) {
    throw wrong(suspended.part, 'the suspension is before the activation of the grant')
  }
  return found
}

function roleOf({ leaf, texts }: VerifiedLeaf, decided: DecidedLeaf): Role | null {
  switch (leaf.type) {
    case 'payment.decided':
      return 'decided'
    case 'payment.ended':
      return leaf.subject === decided.subject ? 'ended' : null
    case 'purchase.answered':
      return leaf.subject === decided.subject && decided.kind === 'x402' ? 'answered' : null
    case 'audit': {
      if (decided.grant === null || decided.kind === 'withdrawal') return null
      if (leaf.action === 'agents.stopped') return concernsStop(texts['details'] ?? null, decided) ? 'suspended' : null
      return leaf.object === decided.grant ? (ROLES_OF_ACTIONS.get(leaf.action) ?? null) : null
    }
    case 'signature':
    case 'unavailable':
      return null
  }
}

/** Returns whether a stop concerned the agent and the wallet of the payment. If its details are not given, it did. */
function concernsStop(text: string | null, { mode, agent, wallet }: DecidedLeaf): boolean {
  if (text === null) return true
  const details = parseDetails(text)
  const { mode: ofMode = mode, agent_id: ofAgent = agent, wallet: ofWallet = wallet } = details ?? {}
  return ofMode === mode && ofAgent === agent && typeof ofWallet === 'string' && ofWallet.toLowerCase() === wallet
}

function arrangeSignatures(
  signatures: readonly PlacedSignature[],
  { workspace, mode, kind, subject, grant, wallet }: DecidedLeaf,
): Pick<PaymentEvidence, 'authority' | 'record' | 'resumption'> {
  const found = new Map<string, PlacedSignature>()
  const subjects = new Set<string>()
  const authorityKind = kind === 'withdrawal' ? 'withdrawal' : 'grant'
  for (const one of signatures) {
    const { entry, part } = one
    if (entry.workspace !== workspace || entry.mode !== mode) {
      throw wrong(part, 'it is of another workspace or mode than the payment')
    }
    if (subjects.has(one.subject)) throw wrong(part, 'it occurs twice')
    subjects.add(one.subject)
    const allowed: { readonly [Kind in SignatureKind]: boolean } = {
      grant: authorityKind === 'grant' && entry.subject === grant,
      withdrawal: authorityKind === 'withdrawal' && entry.subject === subject,
      record: entry.subject.toLowerCase() === wallet,
      owners: entry.subject.toLowerCase() === wallet,
      resume: authorityKind === 'grant' && grant !== null,
      revocation: false,
    }
    if (!allowed[entry.kind]) throw wrong(part, 'it does not belong to the evidence of this payment')
    // Each passkey has its own record.
    const role = entry.kind === 'record' ? `record ${entry.credential} ${one.publicKey}` : entry.kind
    if (role !== 'owners' && found.has(role)) throw wrong(part, 'there is another signature of this kind')
    if ((entry.statement !== null) !== (entry.kind === 'resume')) {
      throw wrong(part, 'only a signature that resumes grants has a statement')
    }
    found.set(role, one)
  }
  const authority = found.get(authorityKind) ?? null
  const needed = signatures.filter((one) => one === authority || one.entry.kind === 'owners')
  const records = signatures.filter(({ entry }) => entry.kind === 'record')
  const surplus = records.find((record) => !needed.some((one) => isSamePasskey(record, one)))
  if (surplus !== undefined) {
    throw wrong(surplus.part, 'it is not by a passkey that signed the grant, the withdrawal or a change of owners')
  }
  return { authority, record: findRecord(signatures, authority), resumption: found.get('resume') ?? null }
}

/** Finds the record of the wallet that the passkey of a signature has signed. */
export function findRecord(signatures: readonly PlacedSignature[], by: PlacedSignature | null): PlacedSignature | null {
  return signatures.find((one) => one.entry.kind === 'record' && isSamePasskey(one, by)) ?? null
}

/** The credential id alone proves nothing: anybody can copy it. */
function isSamePasskey(first: PlacedSignature, second: PlacedSignature | null): boolean {
  return first.entry.credential === second?.entry.credential && first.publicKey === second.publicKey
}

function findAudit(found: ReadonlyMap<Role, VerifiedLeaf>, role: Role): VerifiedLeaf<AuditLeaf> | null {
  const leaf = found.get(role)
  return leaf !== undefined && isOf(leaf, 'audit') ? leaf : null
}

function isOf<Type extends Leaf['type']>(
  one: VerifiedLeaf,
  type: Type,
): one is VerifiedLeaf<Extract<Leaf, { readonly type: Type }>> {
  return one.leaf.type === type
}
