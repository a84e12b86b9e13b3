import { all, changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Wallet, WalletSummary } from './wallet.ts'

const COLUMNS = `account_id, mode, address, name, enclave_wallet_id, owner_quorum_id, owner_credential_id,
  owner_public_key, created_at`

export function insertWallet(wallet: Wallet): Query<boolean> {
  return {
    name: 'insert_wallet',
    text: `insert into wallets (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      wallet.accountId,
      wallet.mode,
      wallet.address,
      wallet.name,
      wallet.enclaveWalletId,
      wallet.ownerQuorumId,
      wallet.owner.credentialId,
      Buffer.from(wallet.owner.publicKeyCose),
      wallet.createdAt,
    ],
    read: changed,
  }
}

/** By the primary key. */
export function findWallet(accountId: string, mode: Mode, address: Address): Query<Wallet | null> {
  return {
    name: 'find_wallet',
    text: `select ${COLUMNS} from wallets where account_id = $1 and mode = $2 and address = $3`,
    values: [accountId, mode, address],
    read: firstOrNull(toWallet),
  }
}

export function countWallets(accountId: string, mode: Mode): Query<number> {
  return {
    name: 'count_wallets',
    text: 'select count(*) as wallets from wallets where account_id = $1 and mode = $2',
    values: [accountId, mode],
    read: (rows) => Number(rows[0]?.['wallets']),
  }
}

/**
 * Of `wallets w`. By the primary keys, and `grants_by_wallet`. A passkey is told by its key too: who has none of it can
 * register one under any credential id that is free.
 */
const SUMMARY = {
  columns: `w.account_id, w.mode, w.address, w.name, w.enclave_wallet_id, w.owner_quorum_id, w.owner_credential_id,
      w.owner_public_key, w.created_at, p.name as passkey_name, u.id as user_id, u.name as user_name,
      (select count(*) from grants g where g.account_id = w.account_id and g.mode = w.mode
        and g.wallet_address = w.address and g.status <> 'revoked') as grants`,
  joins: `left join passkeys p on p.credential_id = w.owner_credential_id and p.public_key_cose = w.owner_public_key
      left join users u on u.id = p.user_id`,
} as const

/** By the primary keys. */
export function findWalletSummary(accountId: string, mode: Mode, address: Address): Query<WalletSummary | null> {
  return {
    name: 'find_wallet_summary',
    text: `select ${SUMMARY.columns} from wallets w ${SUMMARY.joins}
      where w.account_id = $1 and w.mode = $2 and w.address = $3`,
    values: [accountId, mode, address],
    read: firstOrNull(toSummary),
  }
}

/** The newest ones, the newest of them last. By the primary keys. */
export function listWalletSummaries(accountId: string, mode: Mode, limit: number): Query<WalletSummary[]> {
  return {
    name: 'list_wallet_summaries',
    text: `select ${SUMMARY.columns} from (
        select ${COLUMNS} from wallets where account_id = $1 and mode = $2 order by created_at desc, address desc limit $3
      ) w ${SUMMARY.joins} order by w.created_at, w.address`,
    values: [accountId, mode, limit],
    read: all(toSummary),
  }
}

/** Wallets of the person's workspaces by the passkey of the person that owns them. By `members_by_user` and primary keys. */
export function countWalletsByOwner(userId: string): Query<[credentialId: string, wallets: number][]> {
  return {
    name: 'count_wallets_by_owner',
    text: `select w.owner_credential_id, count(*) as wallets
      from members m
      join wallets w on w.account_id = m.account_id
      join passkeys p on p.credential_id = w.owner_credential_id and p.public_key_cose = w.owner_public_key
      where m.user_id = $1 and p.user_id = $1
      group by w.owner_credential_id`,
    values: [userId],
    read: all((row) => [row['owner_credential_id'], Number(row['wallets'])]),
  }
}

/** The addresses of a mode over all accounts, those that sort after `after`, by the index `wallets_of_mode`. */
export function listAddresses(mode: Mode, after: Address | null, limit: number): Query<Address[]> {
  return {
    name: 'list_wallet_addresses',
    text: 'select address from wallets where mode = $1 and address > $2 order by address limit $3',
    values: [mode, after ?? '', limit],
    read: all((row) => row['address'] as Address),
  }
}

/** Which of these addresses are wallets of a mode, over all accounts, by the index `wallets_by_address`. */
export function listWalletsAmong(mode: Mode, addresses: readonly Address[]): Query<Address[]> {
  return {
    name: 'list_wallets_among',
    text: 'select address from wallets where address = any($2) and mode = $1',
    values: [mode, addresses],
    read: all((row) => row['address'] as Address),
  }
}

/** From when until when a lease on a wallet's signers counts: one that lies further ahead is of a clock set back since. */
export interface LeaseSpan {
  readonly now: Date
  readonly latest: Date
}

/** Takes the lease on changing the wallet's signers at the enclave; false while another one holds it. */
export function takeSignerChange(wallet: Wallet, until: Date, { now, latest }: LeaseSpan): Query<boolean> {
  return {
    name: 'take_signer_change',
    text: `update wallets set signer_change_until = $4
      where account_id = $1 and mode = $2 and address = $3
        and (signer_change_until is null or signer_change_until <= $5 or signer_change_until > $6)`,
    values: [wallet.accountId, wallet.mode, wallet.address, until, now, latest],
    read: changed,
  }
}

/** Until when the wallet's signers are held; null: they are not. */
export function findSignerChange(wallet: Wallet, { now, latest }: LeaseSpan): Query<Date | null> {
  return {
    name: 'find_signer_change',
    text: `select signer_change_until from wallets
      where account_id = $1 and mode = $2 and address = $3 and signer_change_until > $4 and signer_change_until <= $5`,
    values: [wallet.accountId, wallet.mode, wallet.address, now, latest],
    read: firstOrNull((row) => row['signer_change_until'] as Date),
  }
}

/** Makes the lease last until another time, if it is still the one that was taken. */
export function prolongSignerChange(wallet: Wallet, held: Date, until: Date): Query<boolean> {
  return {
    name: 'prolong_signer_change',
    text: `update wallets set signer_change_until = $5
      where account_id = $1 and mode = $2 and address = $3 and signer_change_until = $4`,
    values: [wallet.accountId, wallet.mode, wallet.address, held, until],
    read: changed,
  }
}

/** Whether the lease is still the one that was taken; in a transaction nobody takes it before the transaction's end. */
export function holdsSignerChange(wallet: Wallet, held: Date): Query<boolean> {
  return {
    name: 'holds_signer_change',
    text: `select 1 from wallets
      where account_id = $1 and mode = $2 and address = $3 and signer_change_until = $4 for share`,
    values: [wallet.accountId, wallet.mode, wallet.address, held],
    read: changed,
  }
}

/** Gives the lease back, if it is still the one that was taken. */
export function giveBackSignerChange(wallet: Wallet, until: Date): Query<boolean> {
  return {
    name: 'give_back_signer_change',
    text: `update wallets set signer_change_until = null
      where account_id = $1 and mode = $2 and address = $3 and signer_change_until = $4`,
    values: [wallet.accountId, wallet.mode, wallet.address, until],
    read: changed,
  }
}

function toSummary(row: Row): WalletSummary {
  const userId: string | null = row['user_id']
  const ownedBy = userId === null ? null : { userId, userName: row['user_name'], passkeyName: row['passkey_name'] }
  return { ...toWallet(row), ownedBy, grants: Number(row['grants']) }
}

function toWallet(row: Row): Wallet {
  return {
    accountId: row['account_id'],
    mode: row['mode'],
    address: row['address'] as Address,
    name: row['name'],
    enclaveWalletId: row['enclave_wallet_id'],
    ownerQuorumId: row['owner_quorum_id'],
    owner: { credentialId: row['owner_credential_id'], publicKeyCose: row['owner_public_key'] },
    createdAt: row['created_at'],
  }
}
