import { all, type Query } from '../../db/query.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { Grant } from './grant.ts'
import { COLUMNS, GRANT_ROW, toGrant } from './grants-store.ts'

/** Revokes all grants of a wallet that are not revoked, and returns them. Uses the index `grants_by_wallet`. */
export function revokeGrantsOfWallet(
  { accountId, mode, address }: Pick<Wallet, 'accountId' | 'mode' | 'address'>,
  now: Date,
): Query<Grant[]> {
  return {
    name: 'revoke_grants_of_wallet',
    text: `update grants set status = 'revoked', revoked_at = $4, signing_request = null
      where account_id = $1 and mode = $2 and wallet_address = $3 and status <> 'revoked' returning ${COLUMNS}`,
    values: [accountId, mode, address, now],
    read: all(GRANT_ROW, toGrant),
  }
}
