import type { Mode } from './wire.ts'
import type { Delivery } from './wire-developers.ts'

/** What is spent, from where, and who allowed it. As in wire.ts. */

/** A grant's wallet with the agent's limits on it, in USDC. */
export interface AgentWallet {
  readonly address: string
  readonly max_per_tx_usdc: string
  readonly daily_cap_usdc: string
  readonly spent_24h_usdc: string
  readonly remaining_24h_usdc: string
  readonly expires_at: string | null
}

export interface Agent {
  readonly id: string
  readonly mode: Mode
  readonly status: 'no_permissions' | 'active'
  readonly created_at: string
  readonly active_signers: number
  readonly pending_signers: number
  /** Those it may spend from; none before an owner has signed a grant. */
  readonly wallets: readonly AgentWallet[]
}

export interface Wallet {
  readonly address: string
  readonly mode: Mode
  readonly name: string
  readonly created_at: string
  /** The passkey that owns it, and whose it is; names are null once that passkey was removed from the person. */
  readonly owner: {
    readonly passkey_name: string | null
    readonly user_name: string | null
    /** It is a passkey of the one who asks. */
    readonly is_mine: boolean
  }
  /** From the chain; null while the chain is out of reach. */
  readonly balance_usdc: string | null
  /** What the wallet pays its gas with: on its own page, where the server lets wallets pay for gas; else null. */
  readonly coin: {
    readonly symbol: string
    /** In whole coins; null while the chain is out of reach. */
    readonly balance: string | null
  } | null
  /** Grants on it that are not revoked. */
  readonly grants: number
}

export interface Deposit {
  readonly id: string
  readonly wallet: string
  readonly from: string
  readonly amount_usdc: string
  readonly tx_hash: string
  readonly block_number: number
  readonly created_at: string
}

export interface DepositPage {
  readonly deposits: readonly Deposit[]
  readonly next: string | null
}

export interface Recipient {
  readonly address: string
  readonly label: string
  readonly created_at: string
}

/** What is shown of a grant beside its status: one that is not revoked can be suspended, or over. */
export type GrantState = 'pending' | 'active' | 'suspended' | 'expired' | 'revoked' | 'replaced'

export interface Grant {
  readonly id: string
  readonly mode: Mode
  readonly agent_id: string
  readonly wallet: string
  readonly wallet_name: string
  readonly max_per_tx_usdc: string
  readonly daily_cap_usdc: string
  /** Empty: any recipient. */
  readonly recipient_allowlist: readonly string[]
  readonly contract_allowlist: readonly string[]
  readonly expires_at: string | null
  readonly status: 'pending' | 'active' | 'revoked'
  readonly state: GrantState
  /** What the agent spent from the wallet in the last 24 hours, under whichever grant; null when revoked. */
  readonly spent_24h_usdc: string | null
  readonly remaining_24h_usdc: string | null
  /** The grant whose place it takes, or took, when signed. */
  readonly replaces: string | null
  /** The one that took its place. */
  readonly replaced_by: string | null
  /** Who handed in the owner's signature; null: nobody yet, or whoever runs the service. */
  readonly activated_by: string | null
  /** The wallet's owner is a passkey of the one who asks. */
  readonly is_mine_to_sign: boolean
  readonly created_at: string
  readonly activated_at: string | null
  readonly suspended_at: string | null
  readonly revoked_at: string | null
}

export interface GrantTerms {
  readonly max_per_tx_usdc: string
  readonly daily_cap_usdc: string
  readonly recipient_allowlist: readonly string[]
  readonly expires_at: string | null
}

/** What the owner's passkey is asked to sign: `PublicKeyCredentialRequestOptionsJSON`. Null: there is nothing to sign. */
export interface SigningRequest<Options> {
  readonly grant: Grant
  readonly signing_request: { readonly options: Options; readonly expires_at: string } | null
}

export type PaymentStatus = 'pending' | 'confirmed' | 'failed'

export interface Payment {
  readonly id: string
  readonly status: PaymentStatus
  readonly tx_hash: string | null
  readonly amount_usdc: string
  readonly to: string
  readonly from: string
  readonly memo: string | null
  readonly idempotency_key: string | null
  readonly created_at: string
  readonly agent_id: string
  readonly grant_id: string
  /** Why it failed. */
  readonly failure_code:
    'enclave_refused' | 'never_received' | 'never_mined' | 'reverted' | 'transfer_missing' | 'replaced' | null
  /** Why it is still pending, where that asks for attention. */
  readonly pending_reason:
    | 'not_sent'
    | 'outcome_unknown'
    | 'hash_unknown'
    | 'reported_failed'
    | 'reported_replaced'
    | 'reported_reverted'
    | 'transfer_not_found'
    | null
}

export interface PaymentPage {
  readonly payments: readonly Payment[]
  /** What to ask for as `before` to get older ones; null at the end. A page may have none and yet a `next`. */
  readonly next: string | null
}

export interface PaymentDetail {
  readonly payment: Payment & {
    readonly mode: Mode
    /** When the enclave accepted it. */
    readonly accepted_at: string | null
    /** When it was confirmed, or failed. */
    readonly settled_at: string | null
    readonly block_number: number | null
    /** What asked for it; null for payments from before this was kept. */
    readonly credential: Credential | null
    /** The limits it was admitted under, and what the window held before it. */
    readonly limits: {
      readonly max_per_tx_usdc: string
      readonly daily_cap_usdc: string
      readonly spent_24h_usdc: string
    }
  }
  /** The grant that it was made under. */
  readonly grant: Grant
  /** Its events, the oldest first, and where each was sent. */
  readonly events: readonly PaymentEvent[]
}

/** An API key, by its name, or a connection, by what the client calls itself. */
export interface Credential {
  readonly kind: 'key' | 'connection'
  readonly id: string
  readonly name: string | null
}

export interface PaymentEvent {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly deliveries: readonly (Delivery & { readonly url: string })[]
}

/** A request that the pre-check refused: it is no payment, and nothing was reserved. */
export interface Refusal {
  readonly id: string
  readonly mode: Mode
  /** The code of the answer, such as `daily_cap_exceeded`. */
  readonly code: string
  readonly message: string
  /** The answer's `details`: the limit, and how it stood then. */
  readonly details: Readonly<Record<string, unknown>>
  readonly agent_id: string
  readonly wallet: string
  readonly to: string
  readonly amount_usdc: string
  readonly memo: string | null
  readonly idempotency_key: string | null
  readonly credential: Credential | null
  readonly created_at: string
}

export interface RefusalPage {
  readonly refusals: readonly Refusal[]
  readonly next: string | null
}

export type Range = '24h' | '7d' | '30d'

export interface Overview {
  readonly range: Range
  /** The times at which the chart's bars begin, and how long each lasts. */
  readonly bars_at: readonly string[]
  readonly bar_seconds: number
  /** What was spent in the range: confirmed and pending payments. */
  readonly spent_usdc: string
  /** The agents that spent most, then `agent_id: null` for all others together, if any. */
  readonly spend: readonly {
    readonly agent_id: string | null
    readonly total_usdc: string
    /** One amount a bar. */
    readonly bars_usdc: readonly string[]
  }[]
  /** How many requests of the range ended how. */
  readonly counts: {
    readonly confirmed: number
    readonly pending: number
    readonly failed: number
    readonly refused: number
  }
  /** What the last 24 hours used of each active grant's cap, the fullest first, at most 8. */
  readonly caps: readonly {
    readonly grant_id: string
    readonly agent_id: string
    readonly wallet: string
    readonly wallet_name: string
    readonly state: GrantState
    readonly daily_cap_usdc: string
    readonly spent_24h_usdc: string
    readonly remaining_24h_usdc: string
  }[]
  /** At most 5 each, the newest first. */
  readonly payments: readonly Payment[]
  readonly deposits: readonly Deposit[]
  /** What there is already, for whoever begins. */
  readonly steps: {
    readonly wallet: boolean
    readonly deposit: boolean
    readonly agent: boolean
    readonly grant: boolean
    readonly key: boolean
    readonly payment: boolean
  }
}
