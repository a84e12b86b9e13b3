import { narrow } from '../../../db/column.ts'
import { firstOrNull, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'

const WALLET_ROW = { address: narrow<Address>(tables.wallets.address) }

/** Finds a wallet whose address, in lower case, matches an SQL `like` pattern. Uses the primary key. */
export function findWalletLike(
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  pattern: string,
): Query<Address | null> {
  return {
    name: 'find_wallet_like',
    text: 'select address from wallets where workspace_id = $1 and mode = $2 and lower(address) like $3 limit 1',
    values: [workspaceId, mode, pattern],
    read: firstOrNull(WALLET_ROW, ({ address }) => address),
  }
}
