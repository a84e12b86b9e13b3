import { fromBase64 } from '../bytes.ts'
import { sha256 } from '../verify-assertion.ts'
import type { LogEntry } from './file.ts'
import { judgeChain, type ChainNode } from './judge-chain.ts'
import { judgeLimits, listUncheckedLimits } from './judge-limits.ts'
import { judgeOwner } from './judge-owner.ts'
import { findOwnersSignatures } from './owner-keys.ts'
import type { PaymentEvidence } from './payment-evidence.ts'
import type { Verdict } from './verdict.ts'

/** What the user of a verifier knows beside the file. */
export interface Trust {
  /** Public keys of the passkeys that owned the wallet first, as `parseOwnerKey` returns them. May be empty. */
  readonly ownerKeys: readonly string[]
  /** Verifier keys of logs. If there are any, each log must have one of them. */
  readonly logKeys: readonly string[]
  /** A node of the chain, or null. */
  readonly node: ChainNode | null
}

/** What the payment is, according to the log. */
export interface PaymentSummary {
  readonly id: string
  readonly kind: 'transfer' | 'x402' | 'withdrawal'
  readonly workspace: string
  readonly mode: string
  readonly wallet: string
  readonly agent: string | null
  readonly grant: string | null
  readonly to: string
  /** In millionths of USDC. */
  readonly amount: bigint
  readonly decidedAt: Date
  readonly status: 'confirmed' | 'failed'
  readonly transaction: string | null
}

/** The file is not whole, so it says nothing. */
export interface InvalidResult {
  readonly kind: 'invalid'
  /** The path of the first part that is wrong. */
  readonly part: string
  readonly reason: string
}

export interface ValidResult {
  readonly kind: 'valid'
  readonly payment: PaymentSummary
  readonly ownerSigned: Verdict
  readonly withinLimits: Verdict
  readonly onChain: Verdict
  /** What could not be checked, in sentences. */
  readonly unknown: readonly string[]
  /** The logs that contain the leaves. */
  readonly logs: readonly LogEntry[]
}

/** Answers the three questions about a payment whose evidence is whole. */
export async function judgePayment(
  evidence: PaymentEvidence,
  { trust, logs }: { trust: Trust; logs: readonly LogEntry[] },
): Promise<ValidResult> {
  const { ownerKeys, logKeys, node } = trust
  const owned = ownerKeys.length === 0 ? null : findOwnersSignatures(evidence, ownerKeys)
  const fingerprint = owned === null ? await fingerprintOf(evidence) : null
  const ownerSigned = judgeOwner(evidence, { owned, fingerprint })
  const withinLimits = judgeLimits(evidence, owned)
  const onChain = await judgeChain(evidence, { node, owned })
  const unknown = [
    ...(logKeys.length === 0 ? ['You gave no key of a log, so the log could be that of anybody.'] : []),
    ...[ownerSigned, withinLimits, onChain].flatMap(({ answer, reason }) => (answer === 'not checked' ? [reason] : [])),
    ...[withinLimits.answer === 'yes' ? listUncheckedLimits(evidence) : null, listUncheckedOrder(evidence)],
  ]
  return {
    kind: 'valid',
    payment: summarize(evidence),
    ownerSigned,
    withinLimits,
    onChain,
    unknown: unknown.filter((sentence) => sentence !== null),
    logs,
  }
}

/** Returns the SHA-256 of the public key that signed, in hexadecimal. */
async function fingerprintOf({ authority }: PaymentEvidence): Promise<string | null> {
  const key = authority === null ? null : fromBase64(authority.publicKey)
  if (key === null) return null
  return Array.from(await sha256(key), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function listUncheckedOrder({
  decided,
  ended,
  activated,
  suspended,
  revoked,
  signatures,
}: PaymentEvidence): string | null {
  const leaves = [decided, ended, activated, suspended, revoked, ...signatures.map(({ leaf }) => leaf)]
  const logs = new Set(leaves.flatMap((leaf) => leaf?.log ?? []))
  return logs.size < 2
    ? null
    : 'The leaves are in several logs. Only the service says in which order it used these logs.'
}

function summarize({ decided: { leaf }, ended }: PaymentEvidence): PaymentSummary {
  return {
    id: leaf.subject,
    kind: leaf.kind,
    workspace: leaf.workspace,
    mode: leaf.mode ?? '',
    wallet: leaf.wallet,
    agent: leaf.agent,
    grant: leaf.grant,
    to: leaf.to,
    amount: leaf.amount,
    decidedAt: leaf.at,
    status: ended.leaf.status,
    transaction: ended.leaf.tx_hash,
  }
}
