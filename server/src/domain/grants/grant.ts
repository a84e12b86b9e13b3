import type { WalletSigner } from '../../enclave/signer-change.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { Actor } from '../audit/audit-entry.ts'

export const GRANT_STATUSES = ['pending', 'active', 'revoked'] as const

export type GrantStatus = (typeof GRANT_STATUSES)[number]

/** The limits that the owner signed, which apply to every payment of the agent from the wallet. */
export interface GrantPolicy {
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  /** An empty list allows any recipient. */
  readonly recipientAllowlist: readonly Address[]
  /** Never empty. Contains the chain's USDC contract unless the owner chose others. */
  readonly contractAllowlist: readonly Address[]
  readonly expiresAt: Date | null
}

/**
 * A grant lets one agent pay from one wallet under a policy (D14). It starts as `pending`: the enclave has the policy,
 * but no signer may use it yet. The owner's signature makes it `active`; another signature makes it `revoked`, which is
 * final. An active grant can be suspended, and it can expire. Neither changes its status, because the enclave still
 * lists its signer.
 *
 * | from      | by                         | to        |
 * | (none)    | openGrant                  | pending   |
 * | pending   | submitSignature (activate) | active    |
 * | pending   | issueSigningRequest (revoke), nothing to sign | revoked |
 * | active    | submitSignature (revoke)   | revoked   |
 *
 * A policy is never edited. Instead a second, pending grant that `replaces` an active one takes its place when it is
 * activated, by the same signature (decision 0022). Until then the active one stays in force.
 */
export interface Grant extends GrantPolicy {
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: string
  readonly walletAddress: Address
  readonly status: GrantStatus
  readonly enclavePolicyId: string
  readonly signingRequest: StoredSigningRequest | null
  readonly createdAt: Date
  readonly activatedAt: Date | null
  readonly suspendedAt: Date | null
  readonly revokedAt: Date | null
  /** The id of the grant that this one replaces when it is activated. */
  readonly replaces: string | null
  /** The id of the grant that replaced this one. */
  readonly replacedBy: string | null
  /** The user who submitted the owner's signature. Null if nobody has yet, or if it was the operator. */
  readonly activatedBy: string | null
}

/** A grant with what is shown beside it: its names, and how much of its limit is used. */
export interface GrantSummary {
  readonly grant: Grant
  readonly walletName: string
  readonly activatedByName: string | null
  /** What the agent spent from the wallet in the last 24 hours, under any grant (D16). Null for a revoked grant. */
  readonly spent24hMicro: MicroUsdc | null
  /** Whether the wallet is owned by a passkey of the user who is asking. */
  readonly isMineToSign: boolean
}

/** What the owner is asked to sign: the wallet's complete new list of signers (D15). Does not contain the signature. */
export interface StoredSigningRequest {
  readonly change: GrantChange
  readonly before: readonly WalletSigner[]
  readonly after: readonly WalletSigner[]
  /** ISO 8601. */
  readonly expires_at: string
  /** Who last submitted the owner's signature for this request. Stored before the enclave is called. */
  readonly handed_in_by?: Actor
}

export type GrantChange = 'activate' | 'revoke'

export const GRANT_RECIPIENTS_MAX = 100
export const CONTRACTS_MAX = 10
/** The list of signers is sent in the header with the owner's signature, whose size is limited. */
export const GRANTS_PER_WALLET_MAX = 50

/** Returns whether the list lets the signer sign under its policy. */
export function isBound(signers: readonly WalletSigner[], signer: WalletSigner): boolean {
  return signers.some((other) => binds(other, signer))
}

/**
 * Returns the wallet's complete list of signers after the change. The enclave replaces the whole list, so all other
 * signers are repeated in it.
 *
 * Activating puts the signer under its new policy only. Revoking removes the signer, unless it is listed under a policy
 * of `others`: the agent's other grants on this wallet that are not revoked.
 */
export function signersAfter(
  before: readonly WalletSigner[],
  { signer, change, others }: { signer: WalletSigner; change: GrantChange; others: readonly string[] },
): WalletSigner[] {
  const rest = before.filter(({ signerId }) => signerId !== signer.signerId)
  if (change === 'activate') return [...rest, signer]
  const kept = { signerId: signer.signerId, policyIds: others }
  return before.filter(
    (listed) => listed.signerId !== signer.signerId || (!binds(listed, signer) && binds(listed, kept)),
  )
}

function binds(listed: WalletSigner, { signerId, policyIds }: WalletSigner): boolean {
  return listed.signerId === signerId && policyIds.some((id) => listed.policyIds.includes(id))
}

export function sameSigners(left: readonly WalletSigner[], right: readonly WalletSigner[]): boolean {
  const text = (signers: readonly WalletSigner[]): string =>
    JSON.stringify(signers.map((signer) => [signer.signerId, ...signer.policyIds].join(' ')).sort())
  return text(left) === text(right)
}
