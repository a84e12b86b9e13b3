/** Who did it: a person, whoever has an API key, an OAuth client by itself, or whoever runs the service. */
export type Actor = { readonly kind: 'user' | 'key' | 'client'; readonly id: string } | Operator

export interface Operator {
  readonly kind: 'operator'
  readonly id?: undefined
}

export const OPERATOR: Operator = { kind: 'operator' }

/** What is written down (D48), `<noun>.<what was done to it>`. */
export const AUDIT_ACTIONS = [
  'user.signed_up',
  'user.signed_in',
  'user.signed_out',
  'user.verified',
  'user.recovered',
  'passkey.added',
  'passkey.removed',
  'recovery_codes.issued',
  'workspace.created',
  'plan.changed',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'invitation.created',
  'invitation.revoked',
  'key.issued',
  'key.rotated',
  'key.revoked',
  'wallet.created',
  'recipient.labeled',
  'recipient.removed',
  'agent.created',
  'agent.deleted',
  'grant.opened',
  'grant.activated',
  'grant.suspended',
  'grant.revoked',
  'webhook.created',
  'webhook.changed',
  'webhook.deleted',
  'webhook.secret_rotated',
  'webhook.disabled',
  'webhook.tested',
  'webhook.replayed',
  'client.registered',
  'connection.approved',
  'connection.denied',
  'connection.revoked',
  'connection.code_replayed',
  'connection.refresh_token_reused',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** One row of the append-only log (D48). */
export interface AuditEntry {
  /** Whose log: a workspace's id, a user's, or an OAuth client's. */
  readonly logId: string
  readonly id: string
  readonly createdAt: Date
  readonly actor: Actor
  readonly action: AuditAction
  /** What it was done to: an id, never a secret. */
  readonly subject: string | null
  readonly details: Readonly<Record<string, unknown>>
}
