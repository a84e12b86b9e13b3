import { listOf, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { CounterOutcome } from '../passkeys/passkey.ts'
import { COUNTER_ROW, toCounterOutcome } from '../passkeys/passkeys-store.ts'
import type { Wallet, WalletPasskey } from './wallet.ts'

const { wallet_passkeys: passkeys } = tables

export const PASSKEY_ROW = pick(passkeys, 'user_id', 'credential_id', 'public_key', 'name', 'transports', 'created_at')
const COLUMNS = listOf(PASSKEY_ROW)

export const WALLET_PASSKEY_INDEX = 'wallet_passkeys_pkey'

type WalletKey = Pick<Wallet, 'accountId' | 'mode' | 'address'>

export function insertWalletPasskey(passkey: WalletPasskey): Query<boolean> {
  return {
    name: 'insert_wallet_passkey',
    text: `insert into wallet_passkeys (${COLUMNS}) values ($1, $2, $3, $4, $5, $6)`,
    values: [
      passkey.userId,
      passkey.credentialId,
      Buffer.from(passkey.publicKeyCose),
      passkey.name,
      passkey.transports,
      passkey.createdAt,
    ],
    read: changed,
  }
}

/**
 * Stores a wallet passkey's new signature counter, with the rules of `advanceCounter`. `requestedAt` is when the owner
 * was asked for the signature. Uses the primary key.
 */
export function advanceWalletCounter(
  credentialId: string,
  { counter, now, requestedAt }: { counter: number; now: Date; requestedAt: Date },
): Query<CounterOutcome> {
  return {
    name: 'move_wallet_passkey_counter',
    text: `with known as (select 1 from wallet_passkeys where credential_id = $1),
        moved as (
          update wallet_passkeys set counter = greatest(counter, $2), counted_at = $3
          where credential_id = $1 and (counter < $2 or counter = 0 or coalesce(counted_at >= $4, false))
          returning 1)
      select exists (select 1 from known) as is_known, exists (select 1 from moved) as is_moved`,
    values: [credentialId, counter, now, requestedAt],
    read: one(COUNTER_ROW, toCounterOutcome),
  }
}

/** Uses the primary key. */
export function findWalletPasskey(credentialId: string): Query<WalletPasskey | null> {
  return {
    name: 'find_wallet_passkey',
    text: `select ${COLUMNS} from wallet_passkeys where credential_id = $1`,
    values: [credentialId],
    read: firstOrNull(PASSKEY_ROW, toWalletPasskey),
  }
}

export function insertOwner(
  { accountId, mode, address }: WalletKey,
  { credentialId, addedAt }: { credentialId: string; addedAt: Date },
): Query<boolean> {
  return {
    name: 'insert_wallet_owner',
    text: `insert into wallet_owners (account_id, mode, wallet_address, credential_id, added_at)
      values ($1, $2, $3, $4, $5)`,
    values: [accountId, mode, address, credentialId, addedAt],
    read: changed,
  }
}

/** The wallet passkeys that own a wallet, in the order in which they were added. Uses primary keys. */
export function listOwners({ accountId, mode, address }: WalletKey): Query<WalletPasskey[]> {
  return {
    name: 'list_wallet_owners',
    text: `select p.user_id, p.credential_id, p.public_key, p.name, p.transports, p.created_at
      from wallet_owners o join wallet_passkeys p on p.credential_id = o.credential_id
      where o.account_id = $1 and o.mode = $2 and o.wallet_address = $3 order by o.added_at, o.credential_id`,
    values: [accountId, mode, address],
    read: all(PASSKEY_ROW, toWalletPasskey),
  }
}

export function toWalletPasskey(row: RowOf<typeof PASSKEY_ROW>): WalletPasskey {
  return {
    userId: row.user_id,
    credentialId: row.credential_id,
    publicKeyCose: row.public_key,
    name: row.name,
    transports: row.transports,
    createdAt: row.created_at,
  }
}
