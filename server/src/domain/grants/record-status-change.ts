import type { Query } from '../../db/query.ts'
import { createId } from '../../values/ids.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { DomainEvent, EventType } from '../events/event.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { formatGrant } from './format-grant.ts'
import type { Grant } from './grant.ts'

/**
 * Returns the queries that report a grant's new status, active or revoked: they insert its event and its audit entry.
 * They must run in the transaction that changes the status (D43). If two grants change in one transaction, the caller
 * passes `eventId` to define the order of their events. The audit entry contains `because`, if there is a reason.
 */
export function recordStatusChange(
  grant: Grant,
  {
    now,
    actor,
    eventId = createId('event', now),
    because,
  }: { now: Date; actor: Actor; eventId?: string; because?: string },
): readonly Query<unknown>[] {
  const isActive = grant.status === 'active'
  const event = grantEvent(isActive ? 'permission.granted' : 'permission.revoked', grant, now)
  const entry = {
    logId: grant.workspaceId,
    createdAt: now,
    actor,
    action: isActive ? 'grant.activated' : 'grant.revoked',
    subject: grant.id,
    details: {
      ...describeGrant(grant),
      ...(isActive ? describeTerms(grant) : {}),
      ...(because === undefined ? {} : { because }),
    },
  } as const
  return [...appendEvent({ ...event, id: eventId }), insertAuditEntry(entry)]
}

/** Returns an event about a grant. */
export function grantEvent(
  type: Extract<EventType, `permission.${string}`>,
  grant: Grant,
  createdAt: Date,
): DomainEvent {
  const { workspaceId, mode } = grant
  return { id: createId('event', createdAt), workspaceId, mode, type, createdAt, data: { grant: formatGrant(grant) } }
}

/** Returns the complete terms of a grant, so that the leaf of its activation proves them (D80). */
export function describeTerms(grant: Grant) {
  const { max_per_tx_usdc, daily_cap_usdc, recipient_allowlist, contract_allowlist, expires_at, x402 } =
    formatGrant(grant)
  return { terms: { max_per_tx_usdc, daily_cap_usdc, recipient_allowlist, contract_allowlist, expires_at, x402 } }
}

/** Returns the details that every audit entry about a grant contains. */
export function describeGrant(grant: Grant): Readonly<Record<string, string>> {
  return {
    mode: grant.mode,
    agent_id: grant.agentId,
    wallet: grant.walletAddress,
    ...(grant.replaces === null ? {} : { replaces: grant.replaces }),
    ...(grant.replacedBy === null ? {} : { replaced_by: grant.replacedBy }),
  }
}
