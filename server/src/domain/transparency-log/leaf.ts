import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue } from '../../lib/canonical-json.ts'

/** The version of the members of leaves. */
export const LEAF_VERSION = 1
/** The salt of a leaf keeps others from guessing the texts whose hashes it contains. */
export const SALT_BYTES = 16

/**
 * What a leaf reports: any entry of the audit log; a payment that was allowed, or one that was confirmed or failed; a
 * signature of an owner that the service has received; what a seller responded to a purchase.
 */
export const LEAF_TYPES = ['audit', 'payment.decided', 'payment.ended', 'signature', 'purchase.answered'] as const
export type LeafType = (typeof LEAF_TYPES)[number]

/** A change that is not in the tree yet. */
export interface QueuedChange {
  /** The row of the queue. */
  readonly number: string
  readonly logId: string
  readonly type: LeafType
  /** The id of the audit entry or the payment. Of a signature what `formatSignatureSubject` returns. */
  readonly subject: string
  readonly at: Date
}

/** An entry of the audit log, as a leaf contains it. */
export interface LoggedEntry {
  readonly createdAt: Date
  readonly actorKind: string
  readonly actorId: string | null
  readonly action: string
  readonly subject: string | null
  readonly details: { readonly [name: string]: JsonValue }
}

/** A payment, as leaves contain it. Nothing of it changes after the change that the leaf reports. */
export interface LoggedPayment {
  readonly mode: string
  readonly kind: string
  readonly walletAddress: string
  readonly agentId: string | null
  readonly grantId: string | null
  readonly to: string
  readonly amountMicro: string
  readonly maxPerTxMicro: string | null
  readonly dailyCapMicro: string | null
  readonly spent24hMicro: string | null
  readonly credentialId: string | null
  readonly requestId: string | null
  readonly authorizationNonce: string | null
  readonly validBefore: Date | null
  readonly memo: string | null
  readonly idempotencyKey: string | null
  readonly createdAt: Date
  readonly recoveredAt: Date | null
  readonly status: string
  readonly failureCode: string | null
  readonly txHash: string | null
  readonly logIndex: string | null
  readonly block: string | null
  readonly blockHash: string | null
  readonly settledAt: Date | null
}

/** A signature of an owner, as leaves contain it. */
export interface LoggedSignature {
  readonly mode: string
  readonly kind: string
  /** The grant, stop, payment or wallet for which it was given. */
  readonly object: string
  readonly credentialId: string
  readonly receivedAt: Date
  readonly entrySha256: Buffer
}

/**
 * The first response of a seller that arrived completely, as `purchases.first_answer` contains it. A later response may
 * replace it for the agent.
 */
export interface FirstAnswer {
  readonly at: string
  readonly status: number
  readonly delivery: string
  /** The SHA-256 of the body, in base64url. Null if there was none, or if it was longer than what is kept. */
  readonly response_sha256: string | null
  /** What the seller has signed, as it wrote it. Null if it signed nothing, or if that was too large. */
  readonly offer: string | null
  readonly receipt: string | null
}

/** A purchase to which the seller has responded, as leaves contain it. */
export interface LoggedPurchase {
  readonly mode: string
  readonly protocol: string
  readonly method: string
  readonly resourceUrl: string
  readonly firstAnswer: FirstAnswer
}

/** What names the row of a signature within its workspace. */
export interface SignatureKey {
  readonly credentialId: string
  readonly challengeSha256: Buffer
}

type Members = Readonly<Record<string, JsonValue>>

/** Returns the leaf of an audit entry, in canonical JSON. */
export function formatEntryLeaf(change: QueuedChange, entry: LoggedEntry, salt: Buffer): string {
  const { mode = null } = entry.details
  return formatLeaf(change, salt, {
    at: formatTime(entry.createdAt),
    mode: mode === 'test' || mode === 'live' ? mode : null,
    actor_kind: entry.actorKind,
    actor: entry.actorId,
    action: entry.action,
    object: entry.subject,
    details_hash: hashText(salt, 'details', canonicalJson(entry.details)),
  })
}

/** Returns the leaf of a payment that was allowed, or that was confirmed or failed, in canonical JSON. */
export function formatPaymentLeaf(change: QueuedChange, payment: LoggedPayment, salt: Buffer): string {
  const members = change.type === 'payment.ended' ? describeEnd(payment) : describeDecision(payment, salt)
  return formatLeaf(change, salt, { mode: payment.mode, ...members })
}

/** Returns the leaf of a signature of an owner, in canonical JSON. */
export function formatSignatureLeaf(change: QueuedChange, signature: LoggedSignature, salt: Buffer): string {
  return formatLeaf(change, salt, {
    at: formatTime(signature.receivedAt),
    mode: signature.mode,
    kind: signature.kind,
    object: signature.object,
    credential: signature.credentialId,
    signature_sha256: signature.entrySha256.toString('base64url'),
  })
}

/** Returns the leaf of a seller's response, in canonical JSON. */
export function formatAnswerLeaf(change: QueuedChange, purchase: LoggedPurchase, salt: Buffer): string {
  const { at, status, delivery, response_sha256: responseSha256, offer, receipt } = purchase.firstAnswer
  return formatLeaf(change, salt, {
    at,
    mode: purchase.mode,
    status,
    delivery,
    protocol: purchase.protocol,
    method: purchase.method,
    resource_url_hash: hashText(salt, 'resource_url', purchase.resourceUrl),
    response_sha256: responseSha256,
    offer_hash: hashText(salt, 'offer', offer),
    receipt_hash: hashText(salt, 'receipt', receipt),
  })
}

/** Returns the subject of a signature's leaf. A credential id is base64url, so it contains no space. */
export function formatSignatureSubject({ credentialId, challengeSha256 }: SignatureKey): string {
  return `${credentialId} ${challengeSha256.toString('base64url')}`
}

/** Reads what `formatSignatureSubject` returned. */
export function parseSignatureSubject(subject: string): SignatureKey {
  const [credentialId = '', challengeSha256 = ''] = subject.split(' ')
  return { credentialId, challengeSha256: Buffer.from(challengeSha256, 'base64url') }
}

/** Returns the leaf of a change of which nothing was found in the database, in canonical JSON. */
export function formatUnavailableLeaf(change: QueuedChange, salt: Buffer): string {
  return formatLeaf(change, salt, { type: 'unavailable', at: formatTime(change.at), mode: null, of: change.type })
}

function describeDecision(payment: LoggedPayment, salt: Buffer): Members {
  return {
    at: formatTime(payment.createdAt),
    kind: payment.kind,
    wallet: payment.walletAddress,
    agent: payment.agentId,
    grant: payment.grantId,
    to: payment.to,
    amount: payment.amountMicro,
    max_per_payment: payment.maxPerTxMicro,
    cap_24h: payment.dailyCapMicro,
    spent_24h: payment.spent24hMicro,
    credential: payment.credentialId,
    request: payment.requestId,
    nonce: payment.authorizationNonce,
    valid_before: formatTime(payment.validBefore),
    recovered_at: formatTime(payment.recoveredAt),
    memo_hash: hashText(salt, 'memo', payment.memo),
    idempotency_key_hash: hashText(salt, 'idempotency_key', payment.idempotencyKey),
  }
}

function describeEnd(payment: LoggedPayment): Members {
  return {
    at: formatTime(payment.settledAt),
    status: payment.status,
    failure_code: payment.failureCode,
    tx_hash: payment.txHash,
    log_index: payment.logIndex,
    block: payment.block,
    block_hash: payment.blockHash,
  }
}

function formatLeaf({ type, logId, subject }: QueuedChange, salt: Buffer, members: Members): string {
  const common = { v: LEAF_VERSION, type, workspace: logId, subject, salt: salt.toString('base64url') }
  return canonicalJson({ ...common, ...members })
}

/**
 * Hashes a text that somebody wrote, so that it can be deleted although its hash stays in the tree. The member's name is
 * hashed too, so that equal texts of a leaf have different hashes.
 */
function hashText(salt: Buffer, member: string, text: string | null): string | null {
  if (text === null) return null
  return createHash('sha256').update(salt).update(`${member}\0`).update(text).digest('base64url')
}

function formatTime(time: Date | null): string | null {
  return time?.toISOString() ?? null
}
