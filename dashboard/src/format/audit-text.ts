import type { AuditEntry } from '@bursar/server/src/console/contract/audit.ts'
import { AUDIT_ACTIONS, type AuditAction, type AuditNoun } from '@bursar/server/src/domain/audit/audit-entry.ts'
import { formatAmount } from './amount.ts'
import { formatShortAddress } from './address.ts'
import { formatTime } from './date.ts'

/** What somebody did, in words that follow the name of the actor. The compiler checks that no action is missing. */
const ACTION_TEXTS: Readonly<Record<AuditAction, string>> = {
  'user.signed_up': 'signed up',
  'user.signed_in': 'signed in',
  'user.signed_out': 'signed out',
  'user.sessions_ended': 'ended all sessions of a person',
  'user.verified': 'confirmed their identity with a passkey',
  'user.recovered': 'signed in with a recovery code',
  'user.renamed': 'changed their name',
  'passkey.added': 'added a passkey',
  'passkey.renamed': 'renamed a passkey',
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
  'workspace.renamed': 'renamed the workspace',
  'plan.changed': 'changed the plan',
  'member.joined': 'joined',
  'member.role_changed': 'changed a member’s role',
  'member.removed': 'removed a member',
  'invitation.created': 'created an invitation',
  'invitation.revoked': 'revoked an invitation',
  'key.issued': 'created an API key',
  'key.renamed': 'renamed an API key',
  'key.rotated': 'rotated an API key',
  'key.revoked': 'revoked an API key',
  'key.kept': 'kept an API key of a member who lost access',
  'key.held': 'put an API key on hold after a restore',
  'key.confirmed': 'confirmed an API key after a restore',
  'wallet.created': 'created a wallet',
  'wallet.renamed': 'renamed a wallet',
  'wallet.record_signed': 'confirmed a wallet’s record with a wallet passkey',
  'wallet.owner_added': 'added an owner to a wallet',
  'wallet.owner_removed': 'removed an owner from a wallet',
  'wallet.keys_retired': 'retired lost signing keys of a wallet',
  'withdrawal.requested': 'prepared a withdrawal',
  'withdrawal.submitted': 'submitted a signed withdrawal',
  'withdrawal.confirmed': 'recorded that a withdrawal was confirmed',
  'withdrawal.failed': 'recorded that a withdrawal failed',
  'purchase.resolved': 'marked a purchase without delivery as resolved',
  'payment.noted': 'changed the note of a payment',
  'recipient.labeled': 'named a recipient',
  'recipient.removed': 'removed a recipient’s name',
  'view.saved': 'saved a view of the payments',
  'view.deleted': 'deleted a view of the payments',
  'agent.created': 'created an agent',
  'agent.labeled': 'labeled an agent',
  'agent.deleted': 'deleted an agent',
  'grant.opened': 'created a grant',
  'grant.activated': 'signed a grant',
  'grant.suspended': 'suspended a grant',
  'grant.resumed': 'resumed a grant',
  'agents.stopped': 'stopped agents',
  'agents.resumed': 'resumed agents after a stop',
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

/** What a filter by the kind of changed object is called. */
const NOUN_TEXTS: Readonly<Record<AuditNoun, string>> = {
  user: 'Sign-ins and identity',
  passkey: 'Sign-in passkeys',
  wallet_passkey: 'Wallet passkeys',
  recovery_codes: 'Recovery codes',
  workspace: 'The workspace',
  plan: 'The plan',
  member: 'Members',
  invitation: 'Invitations',
  key: 'API keys',
  wallet: 'Wallets and their owners',
  withdrawal: 'Withdrawals',
  purchase: 'Purchases',
  payment: 'Notes on payments',
  recipient: 'Recipients',
  view: 'Saved views',
  agent: 'Agents',
  agents: 'Stops',
  grant: 'Grants',
  webhook: 'Webhooks',
  client: 'Applications',
  connection: 'Connections',
}

/** Returns words that follow the actor's name, such as "created a wallet". Returns a newer server's action unchanged. */
export function formatAction(action: string): string {
  const texts: Readonly<Record<string, string | undefined>> = ACTION_TEXTS
  return texts[action] ?? action
}

/** The choices of a filter by action: each kind of changed object, followed by its actions. */
export function listActionChoices(): readonly { readonly value: string; readonly text: string }[] {
  return Object.entries(NOUN_TEXTS).flatMap(([noun, text]) => [
    { value: noun, text },
    ...AUDIT_ACTIONS.filter((action) => action.startsWith(`${noun}.`)).map((action) => {
      return { value: action, text: `${text}: ${ACTION_TEXTS[action]}` }
    }),
  ])
}

/**
 * The name of the actor. The kind comes before the name of a key or an application, because anybody can give an
 * application the name of a member.
 */
export function formatActor({ kind, id, known }: AuditEntry['actor']): string {
  if (kind === 'operator') return 'Server operator'
  const name = known?.name ?? null
  if (kind === 'user') return name ?? id ?? 'Unknown user'
  const noun = kind === 'key' ? 'API key' : 'Application'
  if (name !== null) return `${noun} “${name}”`
  return id === null ? noun : `${noun} ${formatDetail('', id)}`
}

const DETAIL_NAMES: Readonly<Record<string, string>> = {
  agent_id: 'agent',
  allowance_used: 'payments used',
  amount_usdc: 'amount',
  client_id: 'application ID',
  client_name: 'application',
  created_by: 'created by',
  credential_id: 'wallet passkey',
  expires_at: 'expires',
  failure_code: 'reason',
  redirect_uris: 'redirect URIs',
  replay_of: 'original delivery',
  to: 'recipient',
  tx_hash: 'transaction',
}

/** Details whose values are codes of the service. They are shown as words. */
const CODES: ReadonlySet<string> = new Set(['because', 'failure_code', 'only'])

const TIME_PATTERN = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
/** An address or the hash of a transaction. */
const HEX_PATTERN = /^0x(?:[\dA-Fa-f]{40}|[\dA-Fa-f]{64})$/
/**
 * An ID: a prefix for the kind of object, then 26 characters. IDs that were created at the same time differ only in
 * their last characters. The ID of a delivery has a second part.
 */
const ID_PATTERN = /^([a-z_]+_)[\dA-Z]{20}([\dA-Z]{6})(?:_[\dA-Z]{26})?$/
/** The ID of a passkey. */
const CREDENTIAL_PATTERN = /^([\w-]{8})[\w-]+$/

interface Detail {
  readonly name: string
  /** The formatted value: names instead of IDs, times in the user's time zone, addresses and IDs shortened. */
  readonly text: string
  /** The value as stored in the log. */
  readonly whole: string
}

/** Returns the details of an entry that are texts or numbers, formatted. The mode and other details are left out. */
export function listDetails({
  details,
  known_details: known,
}: Pick<AuditEntry, 'details' | 'known_details'>): readonly Detail[] {
  return Object.entries(details)
    .filter(([key, value]) => key !== 'mode' && (typeof value === 'string' || typeof value === 'number'))
    .map(([key, value]) => {
      const whole = String(value)
      const text = known[key]?.name ?? formatDetail(key, whole)
      return { name: DETAIL_NAMES[key] ?? key.replaceAll('_', ' '), text, whole }
    })
}

function formatDetail(key: string, whole: string): string {
  if (key.endsWith('_usdc')) return `${formatAmount(whole)} USDC`
  if (key === 'credential_id') return whole.replace(CREDENTIAL_PATTERN, '$1…')
  if (CODES.has(key)) return whole.replaceAll('_', ' ')
  if (TIME_PATTERN.test(whole)) return formatTime(whole)
  if (HEX_PATTERN.test(whole)) return formatShortAddress(whole)
  return whole.replace(ID_PATTERN, '$1…$2')
}
