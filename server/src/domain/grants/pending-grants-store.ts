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
 * Lists the grants of both modes that wait for a signature and that concern a user: those that the user prepared, and
 * those on wallets that the user owns, oldest first. Reads all waiting grants of the workspace once, by
 * `grants_one_pending_per_agent_and_wallet`, and looks for the user's passkeys by `wallet_passkeys_by_user`.
 */
export function listPendingOfUser(
  { workspaceId, userId }: { workspaceId: string; userId: string },
  rowsMax: number,
): Query<PendingGrant[]> {
  return {
    name: 'list_pending_grants_of_user',
    text: `with waiting as materialized (
        select id, workspace_id, mode, agent_id, wallet_address, created_by
        from grants where workspace_id = $1 and status = 'pending'
      ), owned as materialized (
        select o.mode, o.wallet_address from wallet_passkeys k
        join wallet_owners o on o.credential_id = k.credential_id and o.workspace_id = $1
        where k.user_id = $2)
      select a.id, a.mode, a.agent_id, w.name as wallet_name, coalesce(a.created_by = $2, false) as is_prepared,
        ${otherSignersOf('a')} as other_signers
      from waiting a
      join wallets w on w.workspace_id = $1 and w.mode = a.mode and w.address = a.wallet_address
      where a.created_by = $2 or (a.mode, a.wallet_address) in (select mode, wallet_address from owned)
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
