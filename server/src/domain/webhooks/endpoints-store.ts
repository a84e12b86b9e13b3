import { all, changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Mode } from '../../values/mode.ts'
import type { WebhookEndpoint } from './endpoint.ts'

const COLUMNS = 'account_id, id, mode, url, events, created_at, failing_since, disabled_at, disabled_because'

export function insertEndpoint(endpoint: WebhookEndpoint, secretSealed: Buffer): Query<boolean> {
  const { accountId, id, mode, url, events, createdAt } = endpoint
  return {
    name: 'insert_webhook_endpoint',
    text: `insert into webhook_endpoints (account_id, id, mode, url, events, created_at, secret_sealed)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [accountId, id, mode, url, events, createdAt, secretSealed],
    read: changed,
  }
}

/** Oldest first. By `webhook_endpoints_listed`. */
export function listEndpointRows(accountId: string, mode: Mode): Query<WebhookEndpoint[]> {
  return {
    name: 'list_webhook_endpoints',
    text: `select ${COLUMNS} from webhook_endpoints
      where account_id = $1 and mode = $2 and deleted_at is null order by id`,
    values: [accountId, mode],
    read: all(toEndpoint),
  }
}

/** By the primary key. */
export function findEndpoint(accountId: string, id: string): Query<WebhookEndpoint | null> {
  return {
    name: 'find_webhook_endpoint',
    text: `select ${COLUMNS} from webhook_endpoints where account_id = $1 and id = $2 and deleted_at is null`,
    values: [accountId, id],
    read: firstOrNull(toEndpoint),
  }
}

/** As `findEndpoint`, and nobody else changes it, or claims its deliveries, until this transaction ends. */
export function lockEndpointRow(accountId: string, id: string): Query<WebhookEndpoint | null> {
  const { text, values, read } = findEndpoint(accountId, id)
  // It lets events be written meanwhile: their deliveries refer to the row.
  return { name: 'lock_webhook_endpoint', text: `${text} for no key update`, values, read }
}

/** Writes what an owner can change. */
export function updateEndpoint(endpoint: WebhookEndpoint): Query<boolean> {
  const { accountId, id, url, events, failingSince, disabledAt, disabledBecause } = endpoint
  return {
    name: 'update_webhook_endpoint',
    text: `update webhook_endpoints
      set url = $3, events = $4, failing_since = $5, disabled_at = $6, disabled_because = $7
      where account_id = $1 and id = $2`,
    values: [accountId, id, url, events, failingSince, disabledAt, disabledBecause],
    read: changed,
  }
}

/** The present secret becomes the previous one. */
export function replaceSecret(endpoint: WebhookEndpoint, secretSealed: Buffer, previousUntil: Date): Query<boolean> {
  return {
    name: 'replace_webhook_secret',
    text: `update webhook_endpoints
      set previous_secret_sealed = secret_sealed, previous_secret_until = $4, secret_sealed = $3
      where account_id = $1 and id = $2`,
    values: [endpoint.accountId, endpoint.id, secretSealed, previousUntil],
    read: changed,
  }
}

/** The row stays for the delivery log, without its secrets. */
export function markEndpointDeleted(accountId: string, id: string, now: Date): Query<WebhookEndpoint | null> {
  return {
    name: 'delete_webhook_endpoint',
    text: `update webhook_endpoints
      set deleted_at = $3, secret_sealed = '', previous_secret_sealed = null, previous_secret_until = null
      where account_id = $1 and id = $2 and deleted_at is null returning ${COLUMNS}`,
    values: [accountId, id, now],
    read: firstOrNull(toEndpoint),
  }
}

/** Its deliveries are gone already. */
export function removeEndpoint(accountId: string, id: string): Query<boolean> {
  return {
    name: 'remove_webhook_endpoint',
    text: 'delete from webhook_endpoints where account_id = $1 and id = $2 and deleted_at is not null',
    values: [accountId, id],
    read: changed,
  }
}

function toEndpoint(row: Row): WebhookEndpoint {
  return {
    id: row['id'],
    accountId: row['account_id'],
    mode: row['mode'],
    url: row['url'],
    events: row['events'],
    createdAt: row['created_at'],
    failingSince: row['failing_since'],
    disabledAt: row['disabled_at'],
    disabledBecause: row['disabled_because'],
  }
}
