import { computed, narrow, pick } from '../../db/column.ts'
import { all, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'
import { rolesWith } from '../../values/role.ts'
import { otherSigners } from '../wallets/wallet-owners-store.ts'
import type { PendingGrant } from './grant.ts'

const { grants, wallets } = tables

const PENDING_ROW = {
  ...pick(grants, 'id', 'agent_id'),
  mode: narrow<Mode>(grants.mode),
  wallet_name: wallets.name,
  is_prepared: computed.bool,
  other_signers: computed.textArray,
}

/** The roles that may have a grant signed, as a constant of SQL. */
const SIGNING_ROLES = `'{${rolesWith('manageGrants').join(',')}}'`

/** The SQL for the names of the people who can sign the grant with this alias, without the user `$2`. */
export function otherSignersOf(alias: string): string {
  return otherSigners({
    workspaceId: `${alias}.workspace_id`,
    mode: `${alias}.mode`,
    address: `${alias}.wallet_address`,
    userId: '$2',
    roles: SIGNING_ROLES,
  })
}

/**
 * Lists the grants of both modes that wait for a signature and that concern a user: those that the user prepared, found
 * by `grants_of_creator`, and those on wallets that the user owns, found by `wallet_passkeys_by_user`,
 * `wallet_owners_of_passkey` and `grants_by_wallet`. Oldest first.
 */
export function listPendingOfUser(
  { workspaceId, userId }: { workspaceId: string; userId: string },
  rowsMax: number,
): Query<PendingGrant[]> {
  return {
    name: 'list_pending_grants_of_user',
    text: `with concerned as (
        select a.id from grants a where a.created_by = $2 and a.workspace_id = $1 and a.status = 'pending'
        union
        select a.id from wallet_passkeys k
        join wallet_owners i on i.credential_id = k.credential_id and i.workspace_id = $1
        join grants a on a.workspace_id = $1 and a.mode = i.mode and a.wallet_address = i.wallet_address
          and a.status <> 'revoked'
        where k.user_id = $2 and a.status = 'pending')
      select a.id, a.mode, a.agent_id, w.name as wallet_name, coalesce(a.created_by = $2, false) as is_prepared,
        ${otherSignersOf('a')} as other_signers
      from concerned c
      join grants a on a.workspace_id = $1 and a.id = c.id
      join wallets w on w.workspace_id = a.workspace_id and w.mode = a.mode and w.address = a.wallet_address
      order by a.id limit $3`,
    values: [workspaceId, userId, rowsMax],
    read: all(PENDING_ROW, (row) => ({
      id: row.id,
      mode: row.mode,
      agentId: row.agent_id,
      walletName: row.wallet_name,
      isPrepared: row.is_prepared,
      otherSigners: row.other_signers,
    })),
  }
}
