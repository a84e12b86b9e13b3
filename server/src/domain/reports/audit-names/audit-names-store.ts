import { computed, narrow, nullable } from '../../../db/column.ts'
import { all, type Query } from '../../../db/query.ts'
import { MODES, type Mode } from '../../../values/mode.ts'

/** The kinds of objects that an audit entry names by an id, and that have a name of their own. */
export type NamedKind = 'key' | 'client' | 'connection' | 'wallet' | 'webhook' | 'wallet_passkey'

export interface NamedObject {
  readonly kind: NamedKind
  readonly id: string
  /** The name that the object has now. For a webhook endpoint it is the URL. */
  readonly name: string
  /** Null for an object that exists in both modes. */
  readonly mode: Mode | null
}

const NAME_ROW = {
  kind: narrow<NamedKind>(computed.text),
  id: computed.text,
  name: computed.text,
  mode: narrow<Mode>(nullable(computed.text)),
}

/**
 * Lists the objects that have one of these ids. The ids must come from the workspace's own audit log, because clients
 * and wallet passkeys do not belong to a workspace. Uses primary keys.
 */
export function listAuditNames(
  workspaceId: string,
  ids: Readonly<Record<NamedKind, readonly string[]>>,
): Query<NamedObject[]> {
  return {
    name: 'list_audit_names',
    text: `select 'key' as kind, id, name, mode from api_keys
      where workspace_id = $1 and id = any($2::text[]) and name <> ''
      union all
      select 'connection', c.id, o.name, c.mode from connections c join oauth_clients o on o.id = c.client_id
      where c.workspace_id = $1 and c.id = any($3::text[])
      union all
      select 'client', id, name, null from oauth_clients where id = any($4::text[])
      union all
      select 'wallet', address, name, mode from wallets
      where workspace_id = $1 and mode = any($5::text[]) and address = any($6::text[])
      union all
      select 'webhook', id, url, mode from webhook_endpoints where workspace_id = $1 and id = any($7::text[])
      union all
      select 'wallet_passkey', credential_id, name, null from wallet_passkeys where credential_id = any($8::text[])`,
    values: [workspaceId, ids.key, ids.connection, ids.client, MODES, ids.wallet, ids.webhook, ids.wallet_passkey],
    read: all(NAME_ROW, (row) => ({ kind: row.kind, id: row.id, name: row.name, mode: row.mode })),
  }
}
