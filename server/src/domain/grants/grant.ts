import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { Actor } from '../audit/audit-entry.ts'

export const GRANT_STATUSES = ['pending', 'active', 'revoked'] as const

export type GrantStatus = (typeof GRANT_STATUSES)[number]

/** What the owner signed for: bounds on every payment of the agent from the wallet. */
export interface GrantPolicy {
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  /** Empty means any recipient. */
  readonly recipientAllowlist: readonly Address[]
  /** Never empty; the chain's USDC unless the owner said otherwise. */
  readonly contractAllowlist: readonly Address[]
  readonly expiresAt: Date | null
}

/**
 * A grant binds one agent to one wallet under a policy (D14). It begins `pending`: the enclave has the policy, but no
 * signer may use it. The owner's signature makes it `active`, another one `revoked`, which is final. An active grant can
 * be suspended meanwhile, and expires by itself; neither changes its status, since the enclave still lists its signer.
 *
 * | from      | by                         | to        |
 * | (none)    | openGrant                  | pending   |
 * | pending   | submitSignature (activate) | active    |
 * | pending   | issueSigningRequest (revoke), nothing to sign | revoked |
 * | active    | submitSignature (revoke)   | revoked   |
 *
 * A policy is never edited: a second, pending grant that `replaces` an active one takes its place when it is activated,
 * by the same signature (decision 0022). Until then the active one binds.
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
  /** The grant whose place this one takes when it is activated. */
  readonly replaces: string | null
  /** The grant that took this one's place. */
  readonly replacedBy: string | null
  /** Who handed in the owner's signature; null: nobody yet, or the operator. */
  readonly activatedBy: string | null
}

/** What is shown of a grant: what became of it, and how far it is used. */
export interface GrantSummary {
  readonly grant: Grant
  readonly walletName: string
  readonly activatedByName: string | null
  /** What the agent spent from the wallet in the window (D16), under whichever grant; null of a revoked one. */
  readonly spent24hMicro: MicroUsdc | null
  /** The wallet's owner is a passkey of the one who asks. */
  readonly isMineToSign: boolean
}

/** What the owner is asked to authorize: the wallet's whole new signer list (D15). Never the signature. */
export interface StoredSigningRequest {
  readonly change: GrantAction
  readonly before: readonly WalletSigner[]
  readonly after: readonly WalletSigner[]
  /** ISO 8601. */
  readonly expires_at: string
  /** Who last handed in the owner's signature over it, written down before the enclave was asked. */
  readonly handed_in_by?: Actor
}

export type GrantAction = 'activate' | 'revoke'

/** A party that may sign for a wallet, bound to policies, as the enclave lists it. */
export interface WalletSigner {
  readonly signerId: string
  readonly policyIds: readonly string[]
}

export const GRANT_RECIPIENTS_MAX = 100
export const CONTRACTS_MAX = 10
/** The enclave's signer list travels in the header of the owner's signature, which has bounds of its own. */
export const GRANTS_PER_WALLET_MAX = 50

/** Whether the list lets the signer sign under its policy. */
export function isBound(signers: readonly WalletSigner[], signer: WalletSigner): boolean {
  return signers.some((other) => binds(other, signer))
}

/**
 * The wallet's whole new list: the enclave replaces it, so every other signer is restated. A signer is under one policy:
 * activating puts it under the new one, and revoking takes it out unless it is under a policy of `others`, the agent's
 * other grants on the wallet that are not revoked.
 */
export function changedSigners(
  before: readonly WalletSigner[],
  { signer, change, others }: { signer: WalletSigner; change: GrantAction; others: readonly string[] },
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
