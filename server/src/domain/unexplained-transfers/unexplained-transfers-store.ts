import type { Hash } from 'viem'
import type { SentTransfer } from '../../chain/search-reader.ts'
import { computed, listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import type { UnexplainedTransfer } from './unexplained-transfer.ts'

const { ledger_cursors: cursors, unexplained_transfers: transfers, wallets } = tables

const TRANSFER_ROW = {
  ...pick(transfers, 'workspace_id', 'mode'),
  tx_hash: narrow<Hash>(transfers.tx_hash),
  log_index: transfers.log_index,
  wallet_address: narrow<Address>(transfers.wallet_address),
  to_address: narrow<Address>(transfers.to_address),
  amount_micro: transfers.amount_micro,
  authorization_nonce: narrow<Hash>(transfers.authorization_nonce),
  ...pick(transfers, 'block_number', 'mined_at', 'found_at'),
}

const COLUMNS = listOf(TRANSFER_ROW)

/** Finds the last block whose outgoing transfers were compared with the payments. Uses the primary key. */
export function findLedgerCursor(mode: Mode): Query<bigint | null> {
  return {
    name: 'find_ledger_cursor',
    text: 'select block_number from ledger_cursors where mode = $1',
    values: [mode],
    read: firstOrNull(pick(cursors, 'block_number'), (row) => BigInt(row.block_number)),
  }
}

/** Moves the cursor forward to `block`, or creates it there. Never moves it back. */
export function moveLedgerCursor(mode: Mode, block: bigint): Query<boolean> {
  return {
    name: 'move_ledger_cursor',
    text: `insert into ledger_cursors (mode, block_number) values ($1, $2)
      on conflict (mode) do update set block_number = excluded.block_number
        where ledger_cursors.block_number < excluded.block_number`,
    values: [mode, block],
    read: changed,
  }
}

/**
 * Moves the cursor back to `block`, so that the blocks after it are compared again. Does nothing if the cursor is not
 * after `block`.
 */
export function rewindLedgerCursor(mode: Mode, block: bigint): Query<boolean> {
  return {
    name: 'rewind_ledger_cursor',
    text: 'update ledger_cursors set block_number = $2 where mode = $1 and block_number > $2',
    values: [mode, block],
    read: changed,
  }
}

/** A transfer that no payment explains, and the workspace of its wallet. */
export interface Unexplained {
  readonly workspaceId: string
  readonly txHash: Hash
  readonly logIndex: bigint
}

/**
 * Returns which of the transfers no payment explains, leaving out those that are already stored. A payment explains a
 * transfer in three cases: it has the transfer's transaction and log, or equal terms if its log is not known yet; its
 * authorization has the transfer's nonce; or it is pending with equal terms and may turn out to be this transfer. Uses
 * `wallets_by_address`, `payments_one_per_transfer_log`, `payments_by_authorization`, `payments_holding_balance` and
 * the primary key.
 */
export function listUnexplained(mode: Mode, sent: readonly SentTransfer[]): Query<Unexplained[]> {
  return {
    name: 'list_unexplained',
    text: `select w.workspace_id, t.tx_hash, t.log_index
      from unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::numeric[], $7::text[])
        as t (tx_hash, log_index, wallet, payee, amount, nonce)
      join wallets w on w.address = t.wallet and w.mode = $1
      where not exists (select 1 from unexplained_transfers u where u.workspace_id = w.workspace_id and u.mode = w.mode
          and u.tx_hash = t.tx_hash and u.log_index = t.log_index)
        and not exists (select 1 from payments p where p.mode = w.mode and p.tx_hash = t.tx_hash
          and p.wallet_address = w.address and case when p.log_index is null
            then p.to_address = t.payee and p.amount_micro = t.amount else p.log_index = t.log_index end)
        and not exists (select 1 from payments p where p.mode = w.mode and p.wallet_address = w.address
          and p.authorization_nonce = t.nonce)
        and not exists (select 1 from payments p where p.workspace_id = w.workspace_id and p.mode = w.mode
          and p.wallet_address = w.address and p.settled_at is null and p.mined_block is null
          and (p.kind = 'x402') = (t.nonce is not null) and p.to_address = t.payee and p.amount_micro = t.amount)`,
    values: [
      mode,
      sent.map(({ txHash }) => txHash),
      sent.map(({ logIndex }) => logIndex),
      sent.map(({ from }) => from),
      sent.map(({ to }) => to),
      sent.map(({ amountMicro }) => amountMicro),
      sent.map(({ nonce }) => nonce),
    ],
    read: all(
      { workspace_id: wallets.workspace_id, tx_hash: narrow<Hash>(computed.text), log_index: computed.int8 },
      (row) => ({ workspaceId: row.workspace_id, txHash: row.tx_hash, logIndex: BigInt(row.log_index) }),
    ),
  }
}

/** Stores an unexplained transfer. Returns false if it is stored already. */
export function insertUnexplained(transfer: UnexplainedTransfer): Query<boolean> {
  return {
    name: 'insert_unexplained',
    text: `insert into unexplained_transfers (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      on conflict (workspace_id, mode, tx_hash, log_index) do nothing`,
    values: [
      transfer.workspaceId,
      transfer.mode,
      transfer.txHash,
      transfer.logIndex,
      transfer.wallet,
      transfer.to,
      transfer.amountMicro,
      transfer.nonce,
      transfer.blockNumber,
      transfer.minedAt,
      transfer.foundAt,
    ],
    read: changed,
  }
}

/** How many transfers one purchase is compared with. */
const PURCHASES_MAX = 1_000

type Owner = Pick<UnexplainedTransfer, 'workspaceId' | 'mode'>

/** Locks and returns the transfers of a transaction that have no payment yet. Uses the primary key. */
export function lockUnexplainedOf({ workspaceId, mode }: Owner, txHash: Hash): Query<UnexplainedTransfer[]> {
  return {
    name: 'lock_unexplained_of',
    text: `select ${COLUMNS} from unexplained_transfers
      where workspace_id = $1 and mode = $2 and tx_hash = $3 and payment_id is null order by log_index for update`,
    values: [workspaceId, mode, txHash],
    read: all(TRANSFER_ROW, toUnexplained),
  }
}

/**
 * Locks and returns transfers that an authorization made, that have no payment yet, and that were mined after `since`:
 * the one with this nonce, or all of them if `nonce` is null. The oldest come first, at most `PURCHASES_MAX`. Uses the
 * index `unexplained_transfers_of_wallet`.
 */
export function lockUnexplainedPurchases(
  { workspaceId, mode }: Owner,
  { since, nonce }: { since: Date; nonce: Hash | null },
): Query<UnexplainedTransfer[]> {
  return {
    name: 'lock_unexplained_purchases',
    text: `select ${COLUMNS} from unexplained_transfers
      where workspace_id = $1 and mode = $2 and payment_id is null and mined_at > $3
        and authorization_nonce is not null and authorization_nonce = coalesce($4, authorization_nonce)
      order by mined_at, tx_hash, log_index limit ${PURCHASES_MAX} for update`,
    values: [workspaceId, mode, since, nonce],
    read: all(TRANSFER_ROW, toUnexplained),
  }
}

/**
 * Returns when the newest transfer that has no payment was found. Null if there is none. Uses the index
 * `unexplained_transfers_by_find`.
 */
export function findNewestFind({ workspaceId, mode }: Owner): Query<Date | null> {
  return {
    name: 'find_newest_find',
    text: `select found_at from unexplained_transfers
      where workspace_id = $1 and mode = $2 and payment_id is null order by found_at desc limit 1`,
    values: [workspaceId, mode],
    read: firstOrNull(pick(transfers, 'found_at'), (row) => row.found_at),
  }
}

/** Records which payment explains a transfer. From then on, only the payment counts towards limits. */
export function explainTransfer(transfer: UnexplainedTransfer, paymentId: string): Query<boolean> {
  return {
    name: 'explain_transfer',
    text: `update unexplained_transfers set payment_id = $5
      where workspace_id = $1 and mode = $2 and tx_hash = $3 and log_index = $4 and payment_id is null`,
    values: [transfer.workspaceId, transfer.mode, transfer.txHash, transfer.logIndex, paymentId],
    read: changed,
  }
}

/**
 * Lists transfers that have no payment, of all workspaces and both modes, at most `limit`. Uses the index
 * `unexplained_transfers_by_find`.
 */
export function listAllUnexplained(limit: number): Query<UnexplainedTransfer[]> {
  return {
    name: 'list_all_unexplained',
    text: `select ${COLUMNS} from unexplained_transfers where payment_id is null
      order by workspace_id, mode, found_at limit $1`,
    values: [limit],
    read: all(TRANSFER_ROW, toUnexplained),
  }
}

function toUnexplained(row: RowOf<typeof TRANSFER_ROW>): UnexplainedTransfer {
  return {
    workspaceId: row.workspace_id,
    mode: row.mode,
    txHash: row.tx_hash,
    logIndex: BigInt(row.log_index),
    wallet: row.wallet_address,
    to: row.to_address,
    amountMicro: microUsdc(BigInt(row.amount_micro)),
    nonce: row.authorization_nonce,
    blockNumber: BigInt(row.block_number),
    minedAt: row.mined_at,
    foundAt: row.found_at,
  }
}
