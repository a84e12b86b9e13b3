import { textOfMode } from '../../../db/bounded-scan-query.ts'
import { computed, narrow } from '../../../db/column.ts'
import { all, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import type { RepeatedRefusal, UnsignedGrant } from './conditions.ts'

const { grants, wallets, payment_refusals: refusals } = tables

interface Place {
  readonly workspaceId: string
  readonly mode: Mode
}

const refusalsText = textOfMode(
  'list_repeated_refusals',
  (mode) => `select agent_id, code, count(*) as times from (
      select id, agent_id, code from payment_refusals where workspace_id = $1 and mode = ${mode} and id >= $2
      order by id desc limit $3
    ) newest
    group by agent_id, code having count(*) >= $4 order by count(*) desc, agent_id, code limit $5`,
)

/**
 * Lists the agents whose requests were rejected with the same code at least `timesMin` times, the most frequent first.
 * Reads the newest `readMax` refusals with ids from `from` on, with the index `payment_refusals_listed`.
 */
export function listRepeatedRefusals(
  { workspaceId, mode }: Place,
  {
    from,
    readMax,
    timesMin,
    limit,
  }: { readonly from: string; readonly readMax: number; readonly timesMin: number; readonly limit: number },
): Query<RepeatedRefusal[]> {
  return {
    ...refusalsText(mode),
    values: [workspaceId, from, readMax, timesMin, limit],
    read: all(
      { agent_id: refusals.agent_id, code: refusals.code, times: computed.int8 },
      ({ agent_id: agentId, code, times }) => ({ agentId, code, times: Number(times) }),
    ),
  }
}

const unsignedText = textOfMode(
  'list_unsigned_grants',
  (mode) => `select g.id, g.agent_id, g.wallet_address, w.name, exists (
      select 1 from wallet_owners o join wallet_passkeys k on k.credential_id = o.credential_id
      where o.workspace_id = $1 and o.mode = ${mode} and o.wallet_address = g.wallet_address and k.user_id = $2
    ) as is_mine
    from (
      select id, agent_id, wallet_address from grants
      where workspace_id = $1 and mode = ${mode} and status = 'pending' and (expires_at is null or expires_at > $4)
      order by agent_id, wallet_address limit $3
    ) g
    join wallets w on w.workspace_id = $1 and w.mode = ${mode} and w.address = g.wallet_address
    order by g.agent_id, g.id`,
)

/**
 * Lists grants that wait for an owner's signature and can still be signed, and says of each whether the user owns its
 * wallet. Uses `grants_one_pending_per_agent_and_wallet` and primary keys.
 */
export function listUnsignedGrants(
  { workspaceId, mode }: Place,
  { userId, limit, now }: { readonly userId: string; readonly limit: number; readonly now: Date },
): Query<UnsignedGrant[]> {
  return {
    ...unsignedText(mode),
    values: [workspaceId, userId, limit, now],
    read: all(
      {
        id: grants.id,
        agent_id: grants.agent_id,
        wallet_address: narrow<Address>(grants.wallet_address),
        name: wallets.name,
        is_mine: computed.bool,
      },
      (row) => ({
        id: row.id,
        agentId: row.agent_id,
        wallet: row.wallet_address,
        walletName: row.name,
        isMine: row.is_mine,
      }),
    ),
  }
}
