import type { SlotRules } from '../../enclave/enclave.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { FencedRequest } from '../wallets/signing-fence.ts'

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
  /** Whether the agent may also sign EIP-3009 authorizations of the chain's USDC, which is how it buys (D67). */
  readonly x402: boolean
}

/**
 * A grant lets one agent pay from one wallet under a policy (D14). It uses one slot of the wallet: rules at the enclave
 * that limit one signer. A new grant is `pending`: the slot does not have the grant's rules yet. When the owner signs
 * these rules, the grant becomes `active`. When the owner signs an empty list of rules, the grant becomes `revoked`,
 * which is final. An active grant can be suspended until an owner signs that it is resumed, and it can
 * expire. Suspension and expiry do not change the status, because the enclave still has the grant's rules.
 *
 * | from      | by                         | to        |
 * | (none)    | openGrant                  | pending   |
 * | pending   | submitSignature (activate) | active    |
 * | pending   | issueSigningRequest (revoke), nothing to sign | revoked |
 * | active    | suspendGrant, stopAgents   | active, suspended |
 * | active    | resumeGrants               | active, no longer suspended |
 * | active    | submitSignature (revoke)   | revoked   |
 *
 * The terms of a grant never change. Instead, a second, pending grant `replaces` an active one: one signature activates
 * the new grant in the same slot, and ends the active one (decision 0022). Until then, the active grant stays in force.
 */
export interface Grant extends GrantPolicy {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly agentId: string
  readonly walletAddress: Address
  readonly status: GrantStatus
  /** The slot of the wallet that has this grant's rules. */
  readonly slot: number
  readonly signingRequest: StoredSigningRequest | null
  readonly createdAt: Date
  readonly activatedAt: Date | null
  readonly suspendedAt: Date | null
  readonly revokedAt: Date | null
  /** The id of the grant that ends when this grant is activated. Null if this grant replaces none. */
  readonly replaces: string | null
  /** The id of the grant that replaced this grant. */
  readonly replacedBy: string | null
  /** The user who submitted the owner's signature. Null if nobody has submitted it yet, or the operator did. */
  readonly activatedBy: string | null
  /** The user who prepared the grant. Null if the operator did, or if it was prepared before this was recorded. */
  readonly createdBy: string | null
}

/** A grant, the names that are shown with it, and how much of its limit is used. */
export interface GrantSummary {
  readonly grant: Grant
  readonly walletName: string
  readonly activatedByName: string | null
  /** What the agent spent from the wallet in the last 24 hours, under any grant (D16). Null for a revoked grant. */
  readonly spent24hMicro: MicroUsdc | null
  /** Whether a passkey of the user who is asking owns the wallet. */
  readonly isMineToSign: boolean
  /** Who prepared the grant. Null if `createdBy` is. */
  readonly createdByName: string | null
  /** Whether the user who prepared the grant is no longer a member. */
  readonly isByFormerMember: boolean
  /**
   * The names of the other members who can sign a pending grant: owners and admins of the workspace with a passkey that
   * owns the wallet. Empty for other grants.
   */
  readonly otherSigners: readonly string[]
}

/** A grant that waits for a signature, and what one user has to do with it. */
export interface PendingGrant extends Pick<Grant, 'id' | 'mode' | 'agentId'> {
  readonly walletName: string
  /** Whether the user prepared it. If not, the user owns its wallet. */
  readonly isPrepared: boolean
  /** The names of the other people who can sign it. */
  readonly otherSigners: readonly string[]
}

/** What the owner is asked to sign: all rules of the slot (D15). Does not contain the signature. */
export interface StoredSigningRequest extends FencedRequest {
  readonly change: GrantChange
  /** The slot's rules when the request was prepared. */
  readonly before: SlotRules
  readonly after: SlotRules
}

export const GRANT_CHANGES = ['activate', 'revoke'] as const

export type GrantChange = (typeof GRANT_CHANGES)[number]

/** Limited because an owner's signature contains the recipients' addresses, and is sent in a header of limited size. */
export const GRANT_RECIPIENTS_MAX = 100
/** For a grant that allows purchases: half as many, because its signature contains each recipient twice. */
export const PURCHASE_RECIPIENTS_MAX = 50
export const CONTRACTS_MAX = 10

/** How often an active grant is compared with the record of the enclave. */
export const COMPARISON_INTERVAL_MS = 24 * 60 * 60 * 1_000
