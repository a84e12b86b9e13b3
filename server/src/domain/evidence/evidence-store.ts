import { computed, narrow, pick, required } from '../../db/column.ts'
import { all, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { JsonValue } from '../../lib/canonical-json.ts'
import type { Mode } from '../../values/mode.ts'
import type { FirstAnswer } from '../transparency-log/leaf.ts'

const { audit_entries: entries, purchases, stops, log_queue: queue } = tables

/** The actions that say since when a grant allowed payments, and when it did not. */
export type GrantAction = 'grant.activated' | 'grant.suspended' | 'grant.revoked' | 'agents.stopped'

/** An audit entry about grants, as evidence contains it. */
export interface GrantEntry {
  readonly id: string
  readonly action: GrantAction
  /** The id of the grant, or of the stop. */
  readonly subject: string
  readonly details: { readonly [name: string]: JsonValue }
}

const ENTRY_ROW = {
  id: entries.id,
  action: narrow<GrantAction>(entries.action),
  subject: narrow<string>(computed.text),
  details: narrow<GrantEntry['details']>(entries.details),
}

/** Which entries about one grant are looked for. */
export interface EntryLookup {
  readonly grantId: string
  readonly action: Exclude<GrantAction, 'agents.stopped'>
  /** All returned ids are lower than this. It need not be the id of an entry. */
  readonly below: string
}

/** The condition of the index `audit_entries_about_grants`. */
const ABOUT_GRANTS = `action in ('grant.activated', 'grant.suspended', 'grant.revoked', 'agents.stopped')`

/**
 * Lists audit entries about grants, for each look-up the newest ones. Uses the index `audit_entries_about_grants`.
 */
export function listGrantEntries(
  workspaceId: string,
  lookups: readonly EntryLookup[],
  rowsMax: number,
): Query<GrantEntry[]> {
  return {
    name: 'list_grant_entries',
    text: `select id, action, of_grant as subject, details
      from unnest($2::text[], $3::text[], $4::text[]) as r (of_grant, of_action, below)
      cross join lateral (select id, action, details from audit_entries
        where log_id = $1 and ${ABOUT_GRANTS} and action = of_action and subject = of_grant and id < below
        order by id desc limit $5) e`,
    values: [
      workspaceId,
      lookups.map(({ grantId }) => grantId),
      lookups.map(({ action }) => action),
      lookups.map(({ below }) => below),
      rowsMax,
    ],
    read: all(ENTRY_ROW, (row) => row),
  }
}

/** Which stops are looked for: those of one agent, of one wallet, or of the whole mode if `scope` is empty. */
export interface StopLookup {
  readonly scope: string
  /** The ids of all returned stops are lower than this. It need not be the id of a stop. */
  readonly below: string
}

/**
 * Lists the audit entries of stops, for each look-up the newest ones. Uses the indexes `stops_by_scope` and
 * `audit_entries_about_grants`.
 */
export function listStopEntries(
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  lookups: readonly StopLookup[],
  rowsMax: number,
): Query<GrantEntry[]> {
  return {
    name: 'list_stop_entries',
    text: `select e.id, e.action, s.id as subject, e.details
      from unnest($3::text[], $4::text[]) as r (of_scope, below)
      cross join lateral (select id from stops
        where workspace_id = $1 and mode = $2 and coalesce(agent_id, wallet_address, '') = of_scope and id < below
        order by id desc limit $5) s
      cross join lateral (select id, action, details from audit_entries
        where log_id = $1 and ${ABOUT_GRANTS} and action = 'agents.stopped' and subject = s.id limit 1) e`,
    values: [workspaceId, mode, lookups.map(({ scope }) => scope), lookups.map(({ below }) => below), rowsMax],
    read: all({ ...ENTRY_ROW, subject: stops.id }, (row) => row),
  }
}

/** What the seller of a purchase responded first. */
export interface AnsweredPurchase {
  readonly paymentId: string
  readonly resourceUrl: string
  readonly firstAnswer: FirstAnswer
}

const ANSWERED_ROW = {
  ...pick(purchases, 'payment_id', 'resource_url'),
  first_answer: required(narrow<FirstAnswer>(purchases.first_answer)),
}

/** Lists the purchases to which the seller has responded, by the ids of their payments. Uses the primary key. */
export function listAnswered(workspaceId: string, paymentIds: readonly string[]): Query<AnsweredPurchase[]> {
  return {
    name: 'list_answered_purchases',
    text: `select payment_id, resource_url, first_answer from purchases
      where workspace_id = $1 and payment_id = any ($2) and first_answer is not null`,
    values: [workspaceId, paymentIds],
    read: all(ANSWERED_ROW, (row) => ({
      paymentId: row.payment_id,
      resourceUrl: row.resource_url,
      firstAnswer: row.first_answer,
    })),
  }
}

/** Finds the time of the change that has waited longest for its leaf. Null if none waits. Uses the primary key. */
export function findOldestQueued(): Query<Date | null> {
  return {
    name: 'find_oldest_queued_change',
    text: 'select at from log_queue order by number limit 1',
    values: [],
    read: firstOrNull(pick(queue, 'at'), ({ at }) => at),
  }
}
