import { computed } from '../../db/column.ts'
import { all, changed, one, type Query } from '../../db/query.ts'
import { PASSKEY_ROW, toWalletPasskey } from './owners-store.ts'
import type { WalletPasskey } from './wallet.ts'

/** A wallet passkey, and how many wallets it owns in all workspaces. */
export interface OwnedWalletPasskey {
  readonly passkey: WalletPasskey
  readonly wallets: number
}

const OWNED_ROW = { ...PASSKEY_ROW, wallets: computed.int8 }

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

export function renameWalletPasskeyRow(userId: string, credentialId: string, name: string): Query<boolean> {
  return {
    name: 'rename_wallet_passkey',
    text: 'update wallet_passkeys set name = $3 where user_id = $1 and credential_id = $2',
    values: [userId, credentialId, name],
    read: changed,
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
