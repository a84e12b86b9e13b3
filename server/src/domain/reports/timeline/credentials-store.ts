import { computed, narrow, nullable } from '../../../db/column.ts'
import { all, type Query } from '../../../db/query.ts'
import type { Credential } from './credential.ts'

const CREDENTIAL_ROW = {
  kind: narrow<Credential['kind']>(computed.text),
  id: computed.text,
  name: nullable(computed.text),
}

/** Lists the workspace's API keys and OAuth connections that have one of these ids. Uses primary keys. */
export function listPaymentCredentials(workspaceId: string, ids: readonly string[]): Query<Credential[]> {
  return {
    name: 'list_payment_credentials',
    text: `select 'key' as kind, k.id, nullif(k.name, '') as name
      from api_keys k where k.workspace_id = $1 and k.id = any($2::text[])
      union all
      select 'connection', c.id, o.name from connections c join oauth_clients o on o.id = c.client_id
      where c.workspace_id = $1 and c.id = any($2::text[])`,
    values: [workspaceId, ids],
    read: all(CREDENTIAL_ROW, (row) => ({ kind: row.kind, id: row.id, name: row.name })),
  }
}
