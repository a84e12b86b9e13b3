import { changed, type Query } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

export interface ReadBalance {
  readonly wallet: Address
  readonly balanceMicro: MicroUsdc
  readonly blockNumber: bigint
}

/**
 * Stores balances that were read from the chain. A balance of an earlier block than the stored one is ignored, because
 * nodes may be behind each other. A balance that is equal to the stored one is written again only if the stored one was
 * read before `renewedBefore`. Finds the wallets with the index `wallets_by_address`. Returns whether a row changed.
 */
export function saveBalances(
  mode: Mode,
  balances: readonly ReadBalance[],
  { readAt, renewedBefore }: { readonly readAt: Date; readonly renewedBefore: Date },
): Query<boolean> {
  return {
    name: 'save_wallet_balances',
    text: `insert into wallet_balances as stored
        (workspace_id, mode, wallet_address, balance_micro, block_number, read_at)
      select w.workspace_id, w.mode, w.address, r.balance_micro, r.block_number, $5
      from unnest($2::text[], $3::numeric[], $4::int8[]) r (address, balance_micro, block_number)
      join wallets w on w.address = r.address and w.mode = $1
      on conflict (workspace_id, mode, wallet_address) do update
      set balance_micro = excluded.balance_micro, block_number = excluded.block_number, read_at = excluded.read_at
      where stored.block_number <= excluded.block_number
        and (stored.balance_micro <> excluded.balance_micro or stored.read_at < $6)`,
    values: [
      mode,
      balances.map(({ wallet }) => wallet),
      balances.map(({ balanceMicro }) => balanceMicro),
      balances.map(({ blockNumber }) => blockNumber),
      readAt,
      renewedBefore,
    ],
    read: changed,
  }
}
