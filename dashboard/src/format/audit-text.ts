import type { AuditEntry } from '@bursar/server/src/console/contract/audit.ts'
import { formatShortAddress } from './address.ts'
import { formatTime } from './date.ts'

const ACTION_TEXTS: Readonly<Record<string, string>> = {
  'user.signed_up': 'signed up',
  'user.signed_in': 'signed in',
  'user.signed_out': 'signed out',
  'user.verified': 'confirmed by passkey',
  'user.recovered': 'signed in with a recovery code',
  'passkey.added': 'added a passkey',
  'passkey.removed': 'removed a passkey',
  'recovery_codes.issued': 'made new recovery codes',
  'workspace.created': 'created the workspace',
  'plan.changed': 'changed the plan',
  'member.joined': 'joined',
  'member.role_changed': 'changed a member’s role',
  'member.removed': 'removed a member',
  'invitation.created': 'made an invitation',
  'invitation.revoked': 'took an invitation back',
  'key.issued': 'issued an API key',
  'key.rotated': 'rotated an API key',
  'key.revoked': 'revoked an API key',
  'wallet.created': 'created a wallet',
  'recipient.labeled': 'named a recipient',
  'recipient.removed': 'removed a recipient’s name',
  'agent.created': 'created an agent',
  'agent.deleted': 'deleted an agent',
  'grant.opened': 'prepared a grant',
  'grant.activated': 'signed a grant',
  'grant.suspended': 'suspended a grant',
  'grant.revoked': 'revoked a grant',
  'webhook.created': 'made a webhook endpoint',
  'webhook.changed': 'changed a webhook endpoint',
  'webhook.deleted': 'deleted a webhook endpoint',
  'webhook.secret_rotated': 'rotated a webhook secret',
  'webhook.disabled': 'disabled a webhook endpoint',
  'webhook.tested': 'sent a test event',
  'webhook.replayed': 'sent events once more',
  'client.registered': 'registered as an application',
  'connection.approved': 'let an application connect',
  'connection.denied': 'turned an application down',
  'connection.revoked': 'disconnected an application',
  'connection.code_replayed': 'lost its connection: a code was used twice',
  'connection.refresh_token_reused': 'lost its connection: a refresh token was used twice',
}

/** What was done, to follow the actor's name. An action that is not known here is told as it is. */
export function formatAction(action: string): string {
  return ACTION_TEXTS[action] ?? action
}

/** Who did it. */
export function formatActor({ kind, id, name }: Omit<AuditEntry['actor'], 'former'>): string {
  if (name !== null) return name
  if (kind === 'operator') return 'The operator'
  if (kind === 'key') return `API key ${id ?? ''}`.trim()
  return id ?? (kind === 'client' ? 'An application' : 'Somebody')
}

const DETAIL_NAMES: Readonly<Record<string, string>> = {
  agent_id: 'agent',
  client_id: 'client',
  client_name: 'application',
  expires_at: 'good until',
  redirect_uris: 'redirect addresses',
}

const TIME_PATTERN = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
const ADDRESS_PATTERN = /^0x[\dA-Fa-f]{40}$/
/** What we make ids of: the kind, and 26 characters of which the last ones tell ids of the same time apart. A delivery's has a second part. */
const ID_PATTERN = /^([a-z_]+_)[\dA-Z]{20}([\dA-Z]{6})(?:_[\dA-Z]{26})?$/

interface Detail {
  readonly name: string
  /** For people: a time in their zone, an address and an id by their ends. */
  readonly text: string
  /** As it is in the log. */
  readonly whole: string
}

/** The plain ones of an entry's details, such as `role` and `admin`. */
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
