/**
 * Who did something: a user, the holder of an API key, an OAuth client acting on its own, or the operator of the
 * service.
 */
export type Actor = { readonly kind: 'user' | 'key' | 'client'; readonly id: string } | Operator

export interface Operator {
  readonly kind: 'operator'
  readonly id?: undefined
}

export const OPERATOR: Operator = { kind: 'operator' }

/**
 * The actions that the audit log records (D48), each named by the changed object and a past participle, such as
 * `key.revoked`.
 */
export const AUDIT_ACTIONS = [
  'user.signed_up',
  'user.signed_in',
  'user.signed_out',
  'user.sessions_ended',
  'user.verified',
  'user.recovered',
  'user.renamed',
  'passkey.added',
  'passkey.renamed',
  'passkey.removed',
  'passkey.counter_went_back',
  'wallet_passkey.added',
  'wallet_passkey.renamed',
  'wallet_passkey.removed',
  'wallet_passkey.counter_went_back',
  'recovery_codes.issued',
  'workspace.created',
  'workspace.renamed',
  'plan.changed',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'invitation.created',
  'invitation.revoked',
  'key.issued',
  'key.renamed',
  'key.rotated',
  'key.revoked',
  'key.kept',
  'key.held',
  'key.confirmed',
  'wallet.created',
  'wallet.renamed',
  'wallet.record_signed',
  'wallet.owner_added',
  'wallet.owner_removed',
  'wallet.keys_retired',
  'withdrawal.requested',
  'withdrawal.submitted',
  'withdrawal.confirmed',
  'withdrawal.failed',
  'purchase.resolved',
  'payment.noted',
  'recipient.labeled',
  'recipient.removed',
  'view.saved',
  'view.deleted',
  'agent.created',
  'agent.labeled',
  'agent.deleted',
  'grant.opened',
  'grant.activated',
  'grant.suspended',
  'grant.resumed',
  'grant.revoked',
  'agents.stopped',
  'agents.resumed',
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

/** Who can act, as the kind of an actor. */
export const ACTOR_KINDS = ['user', 'key', 'client', 'operator'] as const

/** The first part of an action: the kind of object that it changes. */
export type AuditNoun = AuditAction extends `${infer Noun}.${string}` ? Noun : never

/** The actions that change one kind of object, or the one action with this name. Empty if there are none. */
export function actionsOf(nounOrAction: string): AuditAction[] {
  return AUDIT_ACTIONS.filter((action) => action === nounOrAction || action.startsWith(`${nounOrAction}.`))
}

/** One entry of the append-only audit log (D48). */
export interface AuditEntry {
  /** The log that contains this entry, named by the id of a workspace, a user or an OAuth client. */
  readonly logId: string
  readonly id: string
  readonly createdAt: Date
  readonly actor: Actor
  readonly action: AuditAction
  /** The id of the changed object, for example of a key. Never a secret. */
  readonly subject: string | null
  readonly details: Readonly<Record<string, unknown>>
}
