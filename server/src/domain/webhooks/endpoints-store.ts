import { listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'
import type { SubscribableType } from '../events/event.ts'
import type { WebhookEndpoint } from './endpoint.ts'

const { webhook_endpoints: endpoints } = tables

const ENDPOINT_ROW = {
  ...pick(endpoints, 'workspace_id', 'id', 'mode', 'url'),
  events: narrow<SubscribableType>(endpoints.events),
  ...pick(endpoints, 'created_at', 'failing_since', 'disabled_at', 'disabled_because'),
}

const COLUMNS = listOf(ENDPOINT_ROW)

export function insertEndpoint(endpoint: WebhookEndpoint, secretSealed: Buffer): Query<boolean> {
  const { workspaceId, id, mode, url, events, createdAt } = endpoint
  return {
    name: 'insert_webhook_endpoint',
    text: `insert into webhook_endpoints (workspace_id, id, mode, url, events, created_at, secret_sealed)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [workspaceId, id, mode, url, events, createdAt, secretSealed],
    read: changed,
  }
}

/** Lists endpoints, oldest first. Uses the index `webhook_endpoints_listed`. */
export function listEndpointRows(workspaceId: string, mode: Mode): Query<WebhookEndpoint[]> {
  return {
    name: 'list_webhook_endpoints',
    text: `select ${COLUMNS} from webhook_endpoints
      where workspace_id = $1 and mode = $2 and deleted_at is null order by id`,
    values: [workspaceId, mode],
    read: all(ENDPOINT_ROW, toEndpoint),
  }
}

/** Uses the primary key. */
export function findEndpoint(workspaceId: string, id: string): Query<WebhookEndpoint | null> {
  return {
    name: 'find_webhook_endpoint',
    text: `select ${COLUMNS} from webhook_endpoints where workspace_id = $1 and id = $2 and deleted_at is null`,
    values: [workspaceId, id],
    read: firstOrNull(ENDPOINT_ROW, toEndpoint),
  }
}

/**
 * Does the same as `findEndpoint`, and locks the endpoint. Until this transaction ends, no other transaction can change
 * the endpoint or claim its deliveries.
 */
export function lockEndpointRow(workspaceId: string, id: string): Query<WebhookEndpoint | null> {
  const { text, values, read } = findEndpoint(workspaceId, id)
  // This kind of lock still allows other transactions to insert deliveries, which refer to the row.
  return { name: 'lock_webhook_endpoint', text: `${text} for no key update`, values, read }
}

/** Updates the fields that `changeEndpoint` can change. */
export function updateEndpoint(endpoint: WebhookEndpoint): Query<boolean> {
  const { workspaceId, id, url, events, failingSince, disabledAt, disabledBecause } = endpoint
  return {
    name: 'update_webhook_endpoint',
    text: `update webhook_endpoints
      set url = $3, events = $4, failing_since = $5, disabled_at = $6, disabled_because = $7
      where workspace_id = $1 and id = $2`,
    values: [workspaceId, id, url, events, failingSince, disabledAt, disabledBecause],
    read: changed,
  }
}

/** Stores a new secret. The current secret becomes the previous one, which is used until `previousUntil`. */
export function replaceSecret(endpoint: WebhookEndpoint, secretSealed: Buffer, previousUntil: Date): Query<boolean> {
  return {
    name: 'replace_webhook_secret',
    text: `update webhook_endpoints
      set previous_secret_sealed = secret_sealed, previous_secret_until = $4, secret_sealed = $3
      where workspace_id = $1 and id = $2`,
    values: [endpoint.workspaceId, endpoint.id, secretSealed, previousUntil],
    read: changed,
  }
}

/** Marks the endpoint as deleted, and deletes its secrets. The row is kept for the delivery log. */
export function markEndpointDeleted(workspaceId: string, id: string, now: Date): Query<WebhookEndpoint | null> {
  return {
    name: 'mark_webhook_endpoint_deleted',
    text: `update webhook_endpoints
      set deleted_at = $3, secret_sealed = '', previous_secret_sealed = null, previous_secret_until = null
      where workspace_id = $1 and id = $2 and deleted_at is null returning ${COLUMNS}`,
    values: [workspaceId, id, now],
    read: firstOrNull(ENDPOINT_ROW, toEndpoint),
  }
}

/** Deletes the row of an endpoint that is marked as deleted. The endpoint's deliveries must be deleted first. */
export function deleteEndpointRow(workspaceId: string, id: string): Query<boolean> {
  return {
    name: 'delete_webhook_endpoint',
    text: 'delete from webhook_endpoints where workspace_id = $1 and id = $2 and deleted_at is not null',
    values: [workspaceId, id],
    read: changed,
  }
}

function toEndpoint(row: RowOf<typeof ENDPOINT_ROW>): WebhookEndpoint {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    mode: row.mode,
    url: row.url,
    events: row.events,
    createdAt: row.created_at,
    failingSince: row.failing_since,
    disabledAt: row.disabled_at,
    disabledBecause: row.disabled_because,
  }
}
