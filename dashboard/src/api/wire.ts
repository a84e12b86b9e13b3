/** The shapes that the dashboard's endpoints speak, as they travel: snake_case, times in ISO 8601, amounts as text. */

export type Role = 'owner' | 'admin' | 'viewer'
export type Mode = 'test' | 'live'
export type Scope = 'wallet:read' | 'wallet:transfer' | 'x402:pay'

export interface Workspace {
  readonly slug: string
  readonly name: string
  readonly role: Role
}

/** The whole of a workspace, and where it is served. */
export interface WorkspaceDetail extends Workspace {
  readonly plan: Plan
  /** The origin of the REST API. */
  readonly base_url: string
  readonly chains: Readonly<Record<Mode, ChainInfo>>
}

export interface ChainInfo {
  readonly chain_id: number
  /** The USDC contract. */
  readonly usdc: string
  /** The origin of a block explorer, such as `https://basescan.org`; null for a chain that has none. */
  readonly explorer_url: string | null
  /** How test USDC is had: by our own endpoint, or at a site of somebody else. Null in live mode, or where there is none. */
  readonly faucet: { readonly kind: 'endpoint' } | { readonly kind: 'site'; readonly url: string } | null
}

export type Plan = 'developer' | 'pro' | 'scale'

export interface PlanUse {
  readonly plan: Plan
  /** Live payments that the enclave accepted, in this UTC calendar month. `limit` null: no limit. */
  readonly allowance: { readonly used: number; readonly limit: number | null; readonly resets_at: string }
  readonly agents: Readonly<Record<Mode, Use>>
  readonly wallets: Readonly<Record<Mode, Use>>
}

export interface Use {
  readonly used: number
  readonly limit: number | null
}

export interface Session {
  readonly user: { readonly id: string; readonly name: string }
  readonly workspaces: readonly Workspace[]
  readonly passkeys: number
  readonly recovery_codes_left: number
  readonly verified: boolean
  readonly expires_at: string
}

/** A browser in which a person is signed in. */
export interface SessionEntry {
  readonly id: string
  /** What the browser calls itself (its User-Agent). */
  readonly device: string
  readonly created_at: string
  readonly last_seen_at: string
  readonly expires_at: string
  /** It is the one that asks. */
  readonly current: boolean
}

export interface Passkey {
  readonly id: string
  readonly name: string
  /** How many wallets of the person's workspaces it owns. */
  readonly wallets: number
  readonly created_at: string
  readonly last_used_at: string | null
}

export interface Member {
  readonly user_id: string
  readonly name: string
  readonly role: Role
  readonly created_at: string
}

export interface Invitation {
  readonly id: string
  readonly role: Role
  readonly uses_left: number
  readonly created_at: string
  readonly expires_at: string
}

/** With the link, which is told once. */
export interface IssuedInvitation extends Invitation {
  readonly url: string
}

/** What the holder of an invitation's link is told of it. */
export interface OfferedInvitation {
  readonly workspace: { readonly slug: string; readonly name: string }
  readonly role: Role
  readonly invited_by: string | null
  readonly expires_at: string
}

export interface AuditEntry {
  readonly id: string
  readonly at: string
  readonly actor: {
    readonly kind: 'user' | 'key' | 'client' | 'operator'
    readonly id: string | null
    readonly name: string | null
    /** Somebody who is no member any more. */
    readonly former: boolean
  }
  readonly action: string
  readonly subject: string | null
  /** Whom it was done to, where that is a person. */
  readonly subject_user: { readonly name: string; readonly former: boolean } | null
  readonly details: Readonly<Record<string, unknown>>
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[]
  /** What to ask for as `before` to get the older ones; null at the end. */
  readonly next: string | null
}

export interface Connection {
  readonly id: string
  readonly client: { readonly name: string; readonly redirect_hosts: readonly string[] }
  readonly mode: Mode
  readonly agent_id: string
  readonly scopes: readonly Scope[]
  readonly user_name: string
  readonly created_at: string
  readonly expires_at: string
  /** When a request with one of its tokens was last counted; null: never. */
  readonly last_used_at: string | null
}

export interface AuthorizationRequest {
  readonly client: {
    /** What the client calls itself: nobody has checked it. */
    readonly name: string
    readonly redirect_host: string
    readonly redirect_uri_kind: 'https' | 'loopback'
    readonly registered_at: string
  }
  readonly scopes: readonly Scope[]
  readonly agent_id: string | null
  readonly expires_at: string
}
