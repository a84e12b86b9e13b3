import { computed, nullable, pick } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Replacement } from '../../lib/sealing.ts'
import type { Mode } from '../../values/mode.ts'

const { webhook_endpoints } = tables

export interface EndpointPlace {
  readonly workspaceId: string
  readonly id: string
}

/**
 * Lists endpoints in the order of their primary keys. A secret is null if it begins with the mark of the newest key. The
 * secrets of a deleted endpoint are empty. Uses the primary key.
 */
export function pageWebhookSecrets(
  after: EndpointPlace,
  mark: Buffer,
  rowsMax: number,
): Query<(EndpointPlace & { mode: Mode; secret: Buffer | null; previousSecret: Buffer | null })[]> {
  return {
    name: 'page_webhook_secrets',
    text: `select workspace_id, id, mode,
        case when secret_sealed <> '' and substring(secret_sealed for $4) <> $3 then secret_sealed end as secret,
        case when substring(previous_secret_sealed for $4) <> $3 then previous_secret_sealed end as previous_secret
      from webhook_endpoints where (workspace_id, id) > ($1, $2) order by workspace_id, id limit $5`,
    values: [after.workspaceId, after.id, mark, mark.length, rowsMax],
    read: all(
      {
        ...pick(webhook_endpoints, 'workspace_id', 'id', 'mode'),
        secret: nullable(computed.bytea),
        previous_secret: nullable(computed.bytea),
      },
      (row) => ({
        workspaceId: row.workspace_id,
        id: row.id,
        mode: row.mode,
        secret: row.secret,
        previousSecret: row.previous_secret,
      }),
    ),
  }
}

export function replaceWebhookSecrets(
  { workspaceId, id }: EndpointPlace,
  secret: Replacement,
  previousSecret: Replacement,
): Query<boolean> {
  return {
    name: 'replace_webhook_secrets',
    text: `update webhook_endpoints set
        secret_sealed = case when secret_sealed = $3 then $4 else secret_sealed end,
        previous_secret_sealed = case when previous_secret_sealed = $5 then $6 else previous_secret_sealed end
      where workspace_id = $1 and id = $2`,
    values: [workspaceId, id, secret?.old, secret?.new, previousSecret?.old, previousSecret?.new],
    read: changed,
  }
}

/**
 * Stores a new secret instead of one that is lost, and deletes the previous secret. If `secret` is null, only the
 * previous one was lost. Uses the primary key.
 */
export function retireWebhookSecrets({ workspaceId, id }: EndpointPlace, secret: Buffer | null): Query<boolean> {
  return {
    name: 'retire_webhook_secrets',
    text: `update webhook_endpoints set secret_sealed = coalesce($3, secret_sealed), previous_secret_sealed = null,
        previous_secret_until = null
      where workspace_id = $1 and id = $2 and deleted_at is null`,
    values: [workspaceId, id, secret],
    read: changed,
  }
}
