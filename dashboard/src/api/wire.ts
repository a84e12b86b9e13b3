/** The shapes that the dashboard's endpoints speak, as they travel: snake_case, times in ISO 8601, amounts as text. */

export type Role = 'owner' | 'admin' | 'viewer'
export type Mode = 'test' | 'live'
export type Scope = 'wallet:read' | 'wallet:transfer' | 'x402:pay'

export interface Workspace {
  readonly slug: string
  readonly name: string
  readonly role: Role
}

export interface Session {
  readonly user: { readonly id: string; readonly name: string }
  readonly workspaces: readonly Workspace[]
  readonly passkeys: number
  readonly recovery_codes_left: number
  readonly verified: boolean
  readonly expires_at: string
}

export interface Passkey {
  readonly id: string
  readonly name: string
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
  }
  readonly action: string
  readonly subject: string | null
  readonly details: Readonly<Record<string, unknown>>
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[]
  /** What to ask for as `before` to get the older ones; null at the end. */
  readonly next: string | null
}

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
  readonly status: 'no_permissions' | 'active'
  /** Those it may spend from; none before an owner has signed a grant. */
  readonly wallets: readonly AgentWallet[]
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
