import { computed, listOf, narrow, pick, required, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Wallet, WalletSummary } from './wallet.ts'

const { wallets } = tables

const ADDRESS_ROW = { address: narrow<Address>(wallets.address) }

const WALLET_ROW = {
  ...pick(wallets, 'workspace_id', 'mode'),
  ...ADDRESS_ROW,
  ...pick(wallets, 'name', 'enclave_wallet_id', 'owner_quorum_id', 'created_at'),
}

const SUMMARY_ROW = { ...WALLET_ROW, grants: computed.int8 }

const COLUMNS = listOf(WALLET_ROW)

export function insertWallet(wallet: Wallet): Query<boolean> {
  return {
    name: 'insert_wallet',
    text: `insert into wallets (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      wallet.workspaceId,
      wallet.mode,
      wallet.address,
      wallet.name,
      wallet.enclaveWalletId,
      wallet.enclaveOwnersId,
      wallet.createdAt,
    ],
    read: changed,
  }
}

/** Uses the primary key. */
export function findWallet(workspaceId: string, mode: Mode, address: Address): Query<Wallet | null> {
  return {
    name: 'find_wallet',
    text: `select ${COLUMNS} from wallets where workspace_id = $1 and mode = $2 and address = $3`,
    values: [workspaceId, mode, address],
    read: firstOrNull(WALLET_ROW, toWallet),
  }
}

/**
 * Locks the wallet's row until the transaction ends, so that no payment of the wallet is reserved or matched meanwhile.
 * Uses the primary key.
 */
export function lockWallet(workspaceId: string, mode: Mode, address: Address): Query<boolean> {
  return {
    name: 'lock_wallet',
    text: 'select 1 from wallets where workspace_id = $1 and mode = $2 and address = $3 for no key update',
    values: [workspaceId, mode, address],
    read: changed,
  }
}

/** Renames a wallet. Returns its name before, or null if there is no such wallet. Uses the primary key. */
export function renameWalletRow(workspaceId: string, mode: Mode, address: Address, name: string): Query<string | null> {
  return {
    name: 'rename_wallet',
    text: `with old as (
        select name from wallets where workspace_id = $1 and mode = $2 and address = $3 for no key update
      )
      update wallets set name = $4 from old where workspace_id = $1 and mode = $2 and address = $3
      returning old.name as before`,
    values: [workspaceId, mode, address, name],
    read: firstOrNull({ before: wallets.name }, (row) => row.before),
  }
}

/**
 * Counts the wallets of a workspace, without those whose signing keys are all lost: they are kept for their owners, and
 * new wallets take their place. Uses the primary keys.
 */
export function countWallets(workspaceId: string, mode: Mode): Query<number> {
  return {
    name: 'count_wallets',
    text: `select count(*) as wallets from wallets w where w.workspace_id = $1 and w.mode = $2 and coalesce((
        select bool_or(s.signer_private_key_sealed <> '') from wallet_slots s
        where s.workspace_id = w.workspace_id and s.mode = w.mode and s.wallet_address = w.address), true)`,
    values: [workspaceId, mode],
    read: one({ wallets: computed.int8 }, (row) => Number(row.wallets)),
  }
}

/** The summary of `wallets w`. Uses `grants_by_wallet`. */
const SUMMARY = `${COLUMNS}, (select count(*) from grants g where g.workspace_id = w.workspace_id and g.mode = w.mode
        and g.wallet_address = w.address and g.status <> 'revoked') as grants`

/** Uses the primary key. */
export function findWalletSummary(workspaceId: string, mode: Mode, address: Address): Query<WalletSummary | null> {
  return {
    name: 'find_wallet_summary',
    text: `select ${SUMMARY} from wallets w
      where w.workspace_id = $1 and w.mode = $2 and w.address = $3`,
    values: [workspaceId, mode, address],
    read: firstOrNull(SUMMARY_ROW, toSummary),
  }
}

/** Lists the newest `limit` wallets, the oldest of them first. Uses the primary key. */
export function listWalletSummaries(workspaceId: string, mode: Mode, limit: number): Query<WalletSummary[]> {
  return {
    name: 'list_wallet_summaries',
    text: `select ${SUMMARY} from (
        select ${COLUMNS} from wallets where workspace_id = $1 and mode = $2 order by created_at desc, address desc limit $3
      ) w order by w.created_at, w.address`,
    values: [workspaceId, mode, limit],
    read: all(SUMMARY_ROW, toSummary),
  }
}

/**
 * Lists the addresses of a mode's wallets in all workspaces, in order, starting after `after`. Uses the index
 * `wallets_of_mode`: the comparison of both columns keeps the planner from reading the wallets of the other mode too.
 */
export function listAddresses(mode: Mode, after: Address | null, limit: number): Query<Address[]> {
  return {
    name: 'list_wallet_addresses',
    text: 'select address from wallets where mode = $1 and (mode, address) > ($1, $2) order by address limit $3',
    values: [mode, after ?? '', limit],
    read: all(ADDRESS_ROW, (row) => row.address),
  }
}

/** Lists those of the addresses that are wallets of the mode, in any workspace. Uses the index `wallets_by_address`. */
export function listWalletsAmong(mode: Mode, addresses: readonly Address[]): Query<Address[]> {
  return {
    name: 'list_wallets_among',
    text: 'select address from wallets where address = any($2) and mode = $1',
    values: [mode, addresses],
    read: all(ADDRESS_ROW, (row) => row.address),
  }
}

/**
 * A lease on a wallet's signers is valid if it ends after `now` and no later than `latest`. A lease that ends after
 * `latest` was written before the clock was set back, and is ignored.
 */
export interface LeaseBounds {
  readonly now: Date
  readonly latest: Date
}

/**
 * Takes the lease that allows one process to change the wallet's signers at the enclave. Returns false while another
 * process has the lease.
 */
export function takeSignerLease(wallet: Wallet, until: Date, { now, latest }: LeaseBounds): Query<boolean> {
  return {
    name: 'take_signer_lease',
    text: `update wallets set signer_change_until = $4
      where workspace_id = $1 and mode = $2 and address = $3
        and (signer_change_until is null or signer_change_until <= $5 or signer_change_until > $6)`,
    values: [wallet.workspaceId, wallet.mode, wallet.address, until, now, latest],
    read: changed,
  }
}

/** Returns the time at which the current lease on the wallet's signers ends, or null if there is no lease. */
export function findSignerLease(wallet: Wallet, { now, latest }: LeaseBounds): Query<Date | null> {
  return {
    name: 'find_signer_lease',
    text: `select signer_change_until from wallets
      where workspace_id = $1 and mode = $2 and address = $3 and signer_change_until > $4 and signer_change_until <= $5`,
    values: [wallet.workspaceId, wallet.mode, wallet.address, now, latest],
    read: firstOrNull({ signer_change_until: required(wallets.signer_change_until) }, (row) => row.signer_change_until),
  }
}

/** Extends the lease to `until`. Returns false if the stored lease is not the one that ends at `held`. */
export function extendSignerLease(wallet: Wallet, held: Date, until: Date): Query<boolean> {
  return {
    name: 'extend_signer_lease',
    text: `update wallets set signer_change_until = $5
      where workspace_id = $1 and mode = $2 and address = $3 and signer_change_until = $4`,
    values: [wallet.workspaceId, wallet.mode, wallet.address, held, until],
    read: changed,
  }
}

/**
 * Returns whether the stored lease is still the one that ends at `held`. If so, no other process can take it before
 * this transaction ends.
 */
export function holdsSignerLease(wallet: Wallet, held: Date): Query<boolean> {
  return {
    name: 'holds_signer_lease',
    text: `select 1 from wallets
      where workspace_id = $1 and mode = $2 and address = $3 and signer_change_until = $4 for share`,
    values: [wallet.workspaceId, wallet.mode, wallet.address, held],
    read: changed,
  }
}

/** Releases the lease. Returns false if the stored lease is not the one that ends at `until`. */
export function releaseSignerLease(wallet: Wallet, until: Date): Query<boolean> {
  return {
    name: 'release_signer_lease',
    text: `update wallets set signer_change_until = null
      where workspace_id = $1 and mode = $2 and address = $3 and signer_change_until = $4`,
    values: [wallet.workspaceId, wallet.mode, wallet.address, until],
    read: changed,
  }
}

function toSummary(row: RowOf<typeof SUMMARY_ROW>): WalletSummary {
  return { ...toWallet(row), grants: Number(row.grants) }
}

function toWallet(row: RowOf<typeof WALLET_ROW>): Wallet {
  return {
    workspaceId: row.workspace_id,
    mode: row.mode,
    address: row.address,
    name: row.name,
    enclaveWalletId: row.enclave_wallet_id,
    enclaveOwnersId: row.owner_quorum_id,
    createdAt: row.created_at,
  }
}
