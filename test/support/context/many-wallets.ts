import type { Context } from '../../../server/src/domain/context.ts'
import type { Address } from '../../../server/src/values/address.ts'
import { readRows } from '../database/read-rows.ts'

const WALLETS_PER_INSERT = 10_000

/**
 * Adds copies of a wallet with other addresses, the first with the address `numbered(1)`. Uses several statements, so
 * that each statement finishes in time on a busy machine.
 */
export async function addWallets(ctx: Pick<Context, 'db'>, wallet: Address, count: number): Promise<void> {
  for (let first = 1; first <= count; first += WALLETS_PER_INSERT) {
    const last = Math.min(first + WALLETS_PER_INSERT - 1, count)
    await readRows(
      ctx.db,
      `insert into wallets (workspace_id, mode, address, name, enclave_wallet_id, owner_quorum_id, created_at)
        select workspace_id, mode, '0x' || lpad(n::text, 40, '0'), name, 'many ' || n, owner_quorum_id, created_at
        from wallets, generate_series($2::integer, $3::integer) n where address = $1`,
      [wallet, first, last],
    )
  }
}

/** Returns the address of the wallet with this number. */
export function numbered(n: number): Address {
  return `0x${String(n).padStart(40, '0')}` as Address
}
