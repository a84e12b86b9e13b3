import { createHash } from 'node:crypto'
import type { Grant } from '../grants/grant.ts'

const VERSION = 1

/**
 * Returns the statement with which an owner resumes suspended grants, in canonical JSON (RFC 8785). It names each grant,
 * when it was suspended, its limits, and the hash of all of its terms. No enclave accepts it, because it is no request
 * to one (D87). `stopId` is null for a grant that was suspended alone.
 */
export function formatStatement(
  grants: readonly Grant[],
  { workspaceId, stopId, expiresAt }: { workspaceId: string; stopId: string | null; expiresAt: Date },
): Uint8Array {
  // The members are in the order of canonical JSON. No value is a number that canonical JSON would format differently.
  const statement = {
    bursar: 'resume-grants',
    expires_at: expiresAt.toISOString(),
    grants: grants.map((grant) => ({
      agent_id: grant.agentId,
      daily_cap_micro: String(grant.dailyCapMicro),
      expires_at: grant.expiresAt?.toISOString() ?? null,
      id: grant.id,
      max_per_tx_micro: String(grant.maxPerTxMicro),
      // An empty list allows any recipient.
      recipients: grant.recipientAllowlist.length === 0 ? null : grant.recipientAllowlist.length,
      suspended_at: grant.suspendedAt?.toISOString() ?? null,
      terms_sha256: hashTerms(grant),
      wallet: grant.walletAddress,
      x402: grant.x402,
    })),
    mode: grants[0]?.mode ?? null,
    stop: stopId,
    version: VERSION,
    workspace: workspaceId,
  }
  return Buffer.from(JSON.stringify(statement))
}

/**
 * Returns the WebAuthn challenge: the SHA-256 of the statement. With the statement itself, the signature would grow with
 * the number of grants.
 */
export function challengeOf(statement: Uint8Array): Uint8Array {
  return createHash('sha256').update(statement).digest()
}

/** Hashes all terms of a grant, in canonical JSON. The terms of a grant never change. */
function hashTerms(grant: Grant): string {
  const terms = {
    agent_id: grant.agentId,
    contract_allowlist: grant.contractAllowlist,
    daily_cap_micro: String(grant.dailyCapMicro),
    expires_at: grant.expiresAt?.toISOString() ?? null,
    id: grant.id,
    max_per_tx_micro: String(grant.maxPerTxMicro),
    recipient_allowlist: grant.recipientAllowlist,
    wallet: grant.walletAddress,
    x402: grant.x402,
  }
  return createHash('sha256').update(JSON.stringify(terms)).digest('hex')
}
