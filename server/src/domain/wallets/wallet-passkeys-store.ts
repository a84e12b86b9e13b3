import { computed, listOf, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { CounterOutcome, PasskeyRegistration } from '../passkeys/passkey.ts'
import { COUNTER_ROW, toCounterOutcome } from '../passkeys/passkeys-store.ts'
import type { WalletPasskey } from './wallet.ts'

/** A wallet passkey, and how many wallets it owns in all workspaces. */
export interface OwnedWalletPasskey {
  readonly passkey: WalletPasskey
  readonly wallets: number
}

const { wallet_passkeys: passkeys } = tables

export const PASSKEY_ROW = pick(passkeys, 'user_id', 'credential_id', 'public_key', 'name', 'transports', 'created_at')
const COLUMNS = listOf(PASSKEY_ROW)

export const WALLET_PASSKEY_INDEX = 'wallet_passkeys_pkey'

const OWNED_ROW = { ...PASSKEY_ROW, wallets: computed.int8 }

export function insertWalletPasskey(passkey: WalletPasskey, registration: PasskeyRegistration): Query<boolean> {
  return {
    name: 'insert_wallet_passkey',
    text: `insert into wallet_passkeys (${COLUMNS}, registration) values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      passkey.userId,
      passkey.credentialId,
      Buffer.from(passkey.publicKeyCose),
      passkey.name,
      passkey.transports,
      passkey.createdAt,
      JSON.stringify(registration),
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
    name: 'advance_wallet_passkey_counter',
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

/**
 * Lists a user's wallet passkeys, oldest first, each with how many wallets it owns. Uses `wallet_passkeys_by_user` and
 * `wallet_owners_of_passkey`.
 */
export function listWalletPasskeyRows(userId: string): Query<OwnedWalletPasskey[]> {
  return {
    name: 'list_wallet_passkeys',
    text: `select user_id, credential_id, public_key, name, transports, created_at,
        (select count(*) from wallet_owners o where o.credential_id = wallet_passkeys.credential_id) as wallets
      from wallet_passkeys where user_id = $1 order by created_at, credential_id`,
    values: [userId],
    read: all(OWNED_ROW, (row) => ({ passkey: toWalletPasskey(row), wallets: Number(row.wallets) })),
  }
}

export function countWalletPasskeys(userId: string): Query<number> {
  return {
    name: 'count_wallet_passkeys',
    text: 'select count(*) as passkeys from wallet_passkeys where user_id = $1',
    values: [userId],
    read: one({ passkeys: computed.int8 }, (row) => Number(row.passkeys)),
  }
}

/** Renames a wallet passkey. Returns its name before, or null if the user does not have it. Uses the primary key. */
export function renameWalletPasskeyRow(userId: string, credentialId: string, name: string): Query<string | null> {
  return {
    name: 'rename_wallet_passkey',
    text: `with old as (select name from wallet_passkeys where user_id = $1 and credential_id = $2 for no key update)
      update wallet_passkeys set name = $3 from old where user_id = $1 and credential_id = $2
      returning old.name as before`,
    values: [userId, credentialId, name],
    read: firstOrNull({ before: passkeys.name }, (row) => row.before),
  }
}

/** Locks a person's wallet passkey, so that it does not become an owner meanwhile. Returns false if there is none. */
export function lockWalletPasskey(userId: string, credentialId: string): Query<boolean> {
  return {
    name: 'lock_wallet_passkey',
    text: 'select 1 from wallet_passkeys where user_id = $1 and credential_id = $2 for update',
    values: [userId, credentialId],
    read: changed,
  }
}

/** Keeps a wallet passkey from being deleted until the transaction ends. Returns false if there is no such passkey. */
export function holdWalletPasskey(credentialId: string): Query<boolean> {
  return {
    name: 'hold_wallet_passkey',
    text: 'select 1 from wallet_passkeys where credential_id = $1 for key share',
    values: [credentialId],
    read: changed,
  }
}

/**
 * Returns whether a passkey owns a wallet, or may already own one at the enclave. It may own one if its user's request
 * to make it an owner was submitted, and the outcome was not recorded. Uses `wallet_owners_of_passkey` and
 * `owner_requests_of_creator`.
 */
export function isWalletPasskeyUsed(userId: string, credentialId: string): Query<boolean> {
  return {
    name: 'is_wallet_passkey_used',
    text: `select exists (select 1 from wallet_owners where credential_id = $2) or exists (
        select 1 from owner_requests where created_by = $1 and kind = 'add_owner'
          and details->>'credential_id' = $2 and submitted_by is not null and done_at is null) as used`,
    values: [userId, credentialId],
    read: one({ used: computed.bool }, (row) => row.used),
  }
}

export function deleteWalletPasskey(userId: string, credentialId: string): Query<boolean> {
  return {
    name: 'delete_wallet_passkey',
    text: 'delete from wallet_passkeys where user_id = $1 and credential_id = $2',
    values: [userId, credentialId],
    read: changed,
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
