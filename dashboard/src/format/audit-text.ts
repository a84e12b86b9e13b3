import type { AuditEntry } from '@bursar/server/src/console/contract/audit.ts'
import { formatShortAddress } from './address.ts'
import { formatTime } from './date.ts'

const ACTION_TEXTS: Readonly<Record<string, string>> = {
  'user.signed_up': 'signed up',
  'user.signed_in': 'signed in',
  'user.signed_out': 'signed out',
  'user.sessions_ended': 'ended all sessions of a person',
  'user.verified': 'confirmed their identity with a passkey',
  'user.recovered': 'signed in with a recovery code',
  'passkey.added': 'added a passkey',
  'passkey.removed': 'removed a passkey',
  'passkey.counter_went_back':
    'was rejected, because the passkey may have been copied (its signature counter went back)',
  'wallet_passkey.added': 'added a wallet passkey',
  'wallet_passkey.renamed': 'renamed a wallet passkey',
  'wallet_passkey.removed': 'removed a wallet passkey',
  'wallet_passkey.counter_went_back':
    'was rejected, because the wallet passkey may have been copied (its signature counter went back)',
  'recovery_codes.issued': 'created new recovery codes',
  'workspace.created': 'created the workspace',
  'plan.changed': 'changed the plan',
  'member.joined': 'joined',
  'member.role_changed': 'changed a member’s role',
  'member.removed': 'removed a member',
  'invitation.created': 'created an invitation',
  'invitation.revoked': 'revoked an invitation',
  'key.issued': 'created an API key',
  'key.rotated': 'rotated an API key',
  'key.revoked': 'revoked an API key',
  'key.kept': 'kept an API key of a member who lost access',
  'key.held': 'put an API key on hold after a restore',
  'key.confirmed': 'confirmed an API key after a restore',
  'wallet.created': 'created a wallet',
  'withdrawal.requested': 'prepared a withdrawal',
  'withdrawal.submitted': 'submitted a signed withdrawal',
  'withdrawal.confirmed': 'recorded that a withdrawal was confirmed',
  'withdrawal.failed': 'recorded that a withdrawal failed',
  'recipient.labeled': 'named a recipient',
  'recipient.removed': 'removed a recipient’s name',
  'agent.created': 'created an agent',
  'agent.deleted': 'deleted an agent',
  'grant.opened': 'created a grant',
  'grant.activated': 'signed a grant',
  'grant.suspended': 'suspended a grant',
  'grant.revoked': 'revoked a grant',
  'webhook.created': 'created a webhook endpoint',
  'webhook.changed': 'changed a webhook endpoint',
  'webhook.deleted': 'deleted a webhook endpoint',
  'webhook.secret_rotated': 'rotated a webhook secret',
  'webhook.disabled': 'disabled a webhook endpoint',
  'webhook.tested': 'sent a test event',
  'webhook.replayed': 'resent events',
  'client.registered': 'registered as an application',
  'connection.approved': 'approved a connection',
  'connection.denied': 'denied a connection',
  'connection.revoked': 'disconnected an application',
  'connection.code_replayed': 'was disconnected: an authorization code was used twice',
  'connection.refresh_token_reused': 'was disconnected: a refresh token was used twice',
}

/** Returns words that follow the actor's name, such as "created a wallet". Returns an unknown action unchanged. */
export function formatAction(action: string): string {
  return ACTION_TEXTS[action] ?? action
}

/** The name of the actor. */
export function formatActor({ kind, id, name }: Omit<AuditEntry['actor'], 'former'>): string {
  if (name !== null) return name
  if (kind === 'operator') return 'Server operator'
  if (kind === 'key') return `API key ${id ?? ''}`.trim()
  return id ?? (kind === 'client' ? 'An application' : 'Unknown user')
}

const DETAIL_NAMES: Readonly<Record<string, string>> = {
  agent_id: 'agent',
  client_id: 'application ID',
  client_name: 'application',
  created_by: 'created by',
  expires_at: 'expires',
  redirect_uris: 'redirect URIs',
}

const TIME_PATTERN = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
const ADDRESS_PATTERN = /^0x[\dA-Fa-f]{40}$/
/**
 * An ID: a prefix for the kind of object, then 26 characters. IDs that were created at the same time differ only in
 * their last characters. The ID of a delivery has a second part.
 */
const ID_PATTERN = /^([a-z_]+_)[\dA-Z]{20}([\dA-Z]{6})(?:_[\dA-Z]{26})?$/

interface Detail {
  readonly name: string
  /** The formatted value: times in the user's time zone, addresses and IDs shortened. */
  readonly text: string
  /** The value as stored in the log. */
  readonly whole: string
}

/** Returns the details of an entry that are texts or numbers, formatted. Other details are left out. */
export function listDetails(details: AuditEntry['details']): readonly Detail[] {
  return Object.entries(details)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([key, value]) => {
      const whole = String(value)
      return { name: DETAIL_NAMES[key] ?? key.replaceAll('_', ' '), text: formatDetail(whole), whole }
    })
}

function formatDetail(whole: string): string {
  if (TIME_PATTERN.test(whole)) return formatTime(whole)
  if (ADDRESS_PATTERN.test(whole)) return formatShortAddress(whole)
  return whole.replace(ID_PATTERN, '$1…$2')
}
