import { canonicalJson } from '../../lib/canonical-json.ts'
import { parseJson } from '../../lib/parse-json.ts'
import { idBoundary, timeOfId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import {
  listResumptions,
  listSignaturesOf,
  type ResumptionLookup,
  type StoredSignature,
} from '../owner-signatures/owner-signatures-store.ts'
import type { Payment } from '../payments/payment.ts'
import { formatSignatureSubject } from '../transparency-log/leaf.ts'
import type { LeafKey } from '../transparency-log/transparency-log-store.ts'
import { LEAVES_MAX, SIGNATURES_MAX } from './evidence-format.ts'
import {
  findOldestQueued,
  listAnswered,
  listGrantEntries,
  listStopEntries,
  type AnsweredPurchase,
  type EntryLookup,
  type GrantEntry,
  type StopLookup,
} from './evidence-store.ts'
import { findLoggedLeaves, isBefore, LeafIndex, type LoggedLeaf, type OpenLogs } from './open-logs.ts'
import { findSuspension, readResumed, selectSignatures, type SignatureWithLeaf } from './select-signatures.ts'

/** The parts of a payment that evidence needs beside its leaves. */
export type ProvenPayment = Pick<
  Payment,
  | 'id'
  | 'kind'
  | 'status'
  | 'agentId'
  | 'grantId'
  | 'walletAddress'
  | 'createdAt'
  | 'settledAt'
  | 'memo'
  | 'idempotencyKey'
>

/** A leaf, with the texts whose hashes it contains. */
export interface LeafWithTexts extends LoggedLeaf {
  readonly texts: Texts
}

type Texts = Readonly<Record<string, string | null>>

/** What proves who allowed a payment. */
export interface Collected {
  readonly kind: 'collected'
  /** The leaves about the payment itself. */
  readonly ownLeaves: readonly LeafWithTexts[]
  /** The leaves that other payments under the same authority need too. */
  readonly sharedLeaves: readonly LeafWithTexts[]
  /** In the order in which the service received them. */
  readonly signatures: readonly SignatureWithLeaf[]
}

/** Why there is no evidence yet: the payment is pending, its leaves are not made yet, or a signature is still usable. */
export interface NotReady {
  readonly kind: 'not_ready'
  readonly reason: 'payment_pending' | 'log_behind' | 'signature_usable'
  /** When a signature can be given out. */
  readonly retryAt: Date | null
}

/** Why there will be no evidence: the payment has no leaf, or the evidence would have too many parts. */
export interface Unavailable {
  readonly kind: 'unavailable'
  readonly reason: 'not_logged' | 'too_large'
}

/**
 * At most this many suspensions of a grant, and this many stops of each scope, are read. If there were more between the
 * suspension of a grant and its resumption, the signature that resumed it is not found.
 */
const SUSPENSIONS_MAX = 20
/**
 * At most this many signatures of each grant, payment and wallet are read. A wallet has one of its record by each passkey,
 * and one of each change of its owners.
 */
const SIGNATURES_OF_SUBJECT_MAX = 400
/** At most this many signatures about each grant and stop are read that may have resumed the grant. */
const RESUMPTIONS_MAX = 20
/** A text that sorts after the ids of all audit entries. */
const AFTER_ALL_ENTRIES = 'b'
/** How far the clocks of two processes may be apart. */
const CLOCKS_APART_MS = 60_000

/**
 * Collects the leaves and the signatures that prove who allowed these payments of one workspace and mode. The number of
 * statements does not depend on the number of payments. Returns the results in the order of the payments.
 */
export async function findEvidence(
  ctx: Pick<Context, 'db'>,
  logs: OpenLogs,
  {
    workspaceId,
    mode,
    payments,
  }: { readonly workspaceId: string; readonly mode: Mode; readonly payments: readonly ProvenPayment[] },
): Promise<(Collected | NotReady | Unavailable)[]> {
  const place = { workspaceId, mode }
  const subjects = new Set(payments.flatMap(({ id, grantId, walletAddress }) => [grantId ?? id, walletAddress]))
  // What waits for its leaf is read before the leaves, so that no leaf is made in between unseen.
  const purchases = payments.filter(({ kind }) => kind === 'x402').map(({ id }) => id)
  const [oldestQueued, ofGrants, ofStops, signatures, answered] = await ctx.db.readSlow(
    [
      findOldestQueued(),
      listGrantEntries(workspaceId, payments.flatMap(toEntryLookups), SUSPENSIONS_MAX),
      listStopEntries(place, payments.flatMap(toStopLookups), SUSPENSIONS_MAX),
      listSignaturesOf(place, [...subjects], SIGNATURES_OF_SUBJECT_MAX),
      listAnswered(workspaceId, purchases),
    ],
    workspaceId,
  )
  const entries = uniqueById([...ofGrants, ...ofStops])
  const found = await findLoggedLeaves(ctx, logs, {
    workspaceId,
    keys: [
      ...payments.flatMap(keysOfPayment),
      ...entries.map(({ id: subject }): LeafKey => ({ type: 'audit', subject })),
      ...signatures.map(keyOfSignature),
    ],
  })
  const resumptions = await findResumptions(ctx, logs, { ...place, payments, entries })
  const logged = [...signatures.map((signature) => toLogged(signature, found)), ...resumptions]
  const given = { mode, openedAt: logs.openedAt, oldestQueued, entries, answered, found, signatures: logged }
  return payments.map((payment) => collectOf(payment, given))
}

interface Given {
  readonly mode: Mode
  readonly openedAt: Date
  readonly oldestQueued: Date | null
  readonly entries: readonly GrantEntry[]
  readonly answered: readonly AnsweredPurchase[]
  readonly found: LeafIndex
  readonly signatures: readonly SignatureWithLeaf[]
}

function collectOf(payment: ProvenPayment, given: Given): Collected | NotReady | Unavailable {
  const own = findOwnLeaves(payment, given)
  if ('kind' in own) return own
  const [decided] = own
  const { grantId } = payment
  const logged = grantId === null ? [] : findGrantLeaves(payment, given)
  if (logged === null) return BEHIND
  const { leaves: aboutGrant, resumed } =
    grantId === null ? { leaves: [], resumed: null } : selectGrantLeaves(logged, { ...given, grantId, decided })
  const signatures = selectSignatures(payment, { decided, resumed, signatures: given.signatures })
  const sharedLeaves = [
    ...aboutGrant.map(({ entry, leaf }) => ({ ...leaf, texts: { details: canonicalJson(entry.details) } })),
    ...signatures.flatMap(({ leaf }) => (leaf === null ? [] : [{ ...leaf, texts: {} }])),
  ]
  if (signatures.length > SIGNATURES_MAX || own.length + sharedLeaves.length > LEAVES_MAX) {
    return { kind: 'unavailable', reason: 'too_large' }
  }
  const usable = signatures.filter(({ signature }) => signature.assertion === null)
  if (usable.length > 0) {
    const times = usable.map(({ signature }) => signature.usableUntil?.getTime() ?? 0)
    return { kind: 'not_ready', reason: 'signature_usable', retryAt: new Date(Math.max(...times)) }
  }
  return { kind: 'collected', ownLeaves: own, sharedLeaves, signatures }
}

/** Finds the leaves about the payment itself, the decision first. */
function findOwnLeaves(
  payment: ProvenPayment,
  { found, answered, openedAt, oldestQueued }: Given,
): readonly [LeafWithTexts, ...LeafWithTexts[]] | NotReady | Unavailable {
  const { id, status, createdAt, settledAt, memo, idempotencyKey } = payment
  if (status === 'pending' || settledAt === null) return { kind: 'not_ready', reason: 'payment_pending', retryAt: null }
  const decided = found.find('payment.decided', id)
  const ended = found.find('payment.ended', id)
  const isWaiting =
    (decided === null && isQueued(createdAt, oldestQueued)) || (ended === null && isQueued(settledAt, oldestQueued))
  if (isWaiting) return BEHIND
  const isLogged = decided !== null && typeOf(decided) === 'payment.decided'
  if (!isLogged || ended === null || typeOf(ended) !== 'payment.ended') {
    return { kind: 'unavailable', reason: 'not_logged' }
  }
  const own = [
    { ...decided, texts: { memo, idempotency_key: idempotencyKey } },
    { ...ended, texts: {} },
  ] as const
  const answer = answered.find(({ paymentId }) => paymentId === id)
  const leaf = found.find('purchase.answered', id)
  if (answer === undefined || (leaf !== null && typeOf(leaf) !== 'purchase.answered')) return own
  const answeredAt = new Date(answer.firstAnswer.at)
  // The seller may have responded after the logs were opened, or to a process that kept no leaf of it.
  if (leaf === null) return answeredAt <= openedAt && isQueued(answeredAt, oldestQueued) ? BEHIND : own
  const { offer, receipt } = answer.firstAnswer
  return [...own, { ...leaf, texts: { resource_url: answer.resourceUrl, offer, receipt } }]
}

/** A leaf is not made yet. */
export const BEHIND: NotReady = { kind: 'not_ready', reason: 'log_behind', retryAt: null }

/** Returns whether the leaf of a change may still be made: whether the oldest change that waits is not later. */
function isQueued(at: Date, oldestQueued: Date | null): boolean {
  return oldestQueued !== null && oldestQueued.getTime() - CLOCKS_APART_MS <= at.getTime()
}

/** Returns the type in the leaf itself. It is `unavailable` if the change could not be read. */
function typeOf({ content }: LoggedLeaf): unknown {
  const { type } = parseJson(content) as { readonly type: unknown }
  return type
}

interface AboutGrant {
  readonly entry: GrantEntry
  readonly leaf: LoggedLeaf
}

/**
 * Finds the entries about the grant of a payment, with their leaves. Those that were made after the logs were opened do
 * not exist for the evidence. Returns null if one of the others waits for its leaf.
 */
function findGrantLeaves(payment: ProvenPayment, { mode, openedAt, oldestQueued, entries, found }: Given) {
  const concerned = entries.filter((entry) => concerns(entry, { ...payment, mode }))
  const logged: AboutGrant[] = []
  for (const entry of concerned) {
    const at = timeOfId('auditEntry', entry.id)
    const leaf = found.find('audit', entry.id)
    if (leaf === null && at <= openedAt && isQueued(at, oldestQueued)) return null
    if (leaf !== null && typeOf(leaf) === 'audit') logged.push({ entry, leaf })
  }
  return logged
}

/** Selects the activation of a payment's grant, what suspended it last between that and the payment, and its end. */
function selectGrantLeaves(
  logged: readonly AboutGrant[],
  { grantId, decided, signatures }: { grantId: string; decided: LoggedLeaf; signatures: Given['signatures'] },
): { readonly leaves: readonly AboutGrant[]; readonly resumed: SignatureWithLeaf | null } {
  const activation = logged.find(({ entry }) => entry.action === 'grant.activated')
  const end = logged.find(({ entry }) => entry.action === 'grant.revoked')
  const suspensions = logged
    .filter(({ entry, leaf }) => isSuspension(entry) && (activation === undefined || isBefore(activation.leaf, leaf)))
    .map(({ leaf }) => leaf)
  const found = findSuspension(grantId, { decided, suspensions, signatures })
  const suspension = logged.find(({ leaf }) => leaf === found?.suspended)
  return { leaves: [activation, suspension, end].filter((one) => one !== undefined), resumed: found?.resumed ?? null }
}

function isSuspension({ action }: GrantEntry): boolean {
  return action === 'grant.suspended' || action === 'agents.stopped'
}

/** Returns whether an entry is about the grant of a payment, or about a stop of which the grant is in the scope. */
function concerns(
  { action, subject, details }: GrantEntry,
  { grantId, agentId, walletAddress, mode }: ProvenPayment & { readonly mode: Mode },
): boolean {
  if (action !== 'agents.stopped') return subject === grantId
  const { mode: ofMode, agent_id: agent = agentId, wallet = walletAddress } = details
  return ofMode === mode && agent === agentId && wallet === walletAddress
}

async function findResumptions(
  ctx: Pick<Context, 'db'>,
  logs: OpenLogs,
  {
    workspaceId,
    mode,
    payments,
    entries,
  }: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly payments: readonly ProvenPayment[]
    readonly entries: readonly GrantEntry[]
  },
): Promise<SignatureWithLeaf[]> {
  const lookups = payments.flatMap(({ grantId, ...payment }) => {
    if (grantId === null) return []
    const suspensions = entries.filter((entry) => isSuspension(entry) && concerns(entry, { ...payment, grantId, mode }))
    return suspensions.map(({ subject }) => ({ grantId, subject }))
  })
  if (lookups.length === 0) return []
  const unique = [...new Map(lookups.flatMap(withGrant).map((one) => [`${one.grantId} ${one.subject}`, one])).values()]
  const listed = await ctx.db.readSlow(listResumptions({ workspaceId, mode }, unique, RESUMPTIONS_MAX), workspaceId)
  const found = await findLoggedLeaves(ctx, logs, { workspaceId, keys: listed.map(keyOfSignature) })
  return listed.map((signature) => toLogged(signature, found))
}

/** A grant that a stop suspended can also be resumed alone. */
function withGrant(lookup: ResumptionLookup): ResumptionLookup[] {
  return [lookup, { ...lookup, subject: lookup.grantId }]
}

function toLogged(signature: StoredSignature, found: LeafIndex): SignatureWithLeaf {
  const leaf = found.find('signature', formatSignatureSubject(signature))
  return { signature, leaf, resumed: readResumed(signature) }
}

function keyOfSignature(signature: StoredSignature): LeafKey {
  return { type: 'signature', subject: formatSignatureSubject(signature) }
}

function keysOfPayment({ id: subject, kind }: ProvenPayment): LeafKey[] {
  const types: LeafKey['type'][] = ['payment.decided', 'payment.ended']
  if (kind === 'x402') types.push('purchase.answered')
  return types.map((type) => ({ type, subject }))
}

function toEntryLookups({ grantId, createdAt }: ProvenPayment): EntryLookup[] {
  if (grantId === null) return []
  return [
    { grantId, action: 'grant.activated', below: AFTER_ALL_ENTRIES },
    { grantId, action: 'grant.suspended', below: idBoundary('auditEntry', later(createdAt)) },
    { grantId, action: 'grant.revoked', below: AFTER_ALL_ENTRIES },
  ]
}

function toStopLookups({ agentId, walletAddress, createdAt }: ProvenPayment): StopLookup[] {
  if (agentId === null) return []
  return [agentId, walletAddress, ''].map((scope) => ({ scope, below: idBoundary('stop', later(createdAt)) }))
}

/** Another process, whose clock is behind, may have made what came before the payment. */
function later(time: Date): Date {
  return new Date(time.getTime() + CLOCKS_APART_MS)
}

function uniqueById(entries: readonly GrantEntry[]): GrantEntry[] {
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()]
}
