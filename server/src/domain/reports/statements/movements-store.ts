import type { Hash } from 'viem'
import { textOfMode } from '../../../db/bounded-scan-query.ts'
import { computed, listOf, narrow, pick, required, type RowOf } from '../../../db/column.ts'
import { all, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { PaymentKind } from '../../payments/payment.ts'
import type { MonthRange, Movement, MovementPosition, MovementType } from './statement.ts'
import { lastBlockOf, MOVED, type WalletPlace } from './statements-store.ts'

const { payments, deposits, unexplained_transfers: unexplained } = tables

export interface MovementPage {
  readonly place: WalletPlace
  readonly range: MonthRange
  /** Only movements after this position are listed. */
  readonly after: MovementPosition
  readonly limit: number
}

const PAYMENT_ROW = {
  ...pick(payments, 'id', 'status'),
  kind: narrow<PaymentKind>(payments.kind),
  to_address: narrow<Address>(payments.to_address),
  tx_hash: payments.tx_hash,
  mined_block: required(payments.mined_block),
  settled_at: required(payments.settled_at),
  ...pick(payments, 'agent_id', 'memo', 'gas_wei'),
}

const paymentText = (mode: string, status: string): string => `select ${listOf(PAYMENT_ROW)}, ${MOVED} as moved_micro
  from payments where workspace_id = $1 and mode = ${mode} and wallet_address = $2 and ${status}
    and (mined_block, id) > ($3, $4) and mined_block <= $5
  order by mined_block, id limit $6`
const confirmedText = textOfMode('list_confirmed_movements', (mode) => paymentText(mode, `status = 'confirmed'`))
const failedText = textOfMode('list_failed_movements', (mode) =>
  paymentText(mode, `status = 'failed' and gas_wei is not null`),
)

const TYPES: Readonly<Record<PaymentKind, MovementType>> = {
  transfer: 'payment',
  x402: 'purchase',
  withdrawal: 'withdrawal',
}

/** Lists the confirmed payments of a wallet in the order of the chain. Uses the index `payments_confirmed_by_block`. */
export function listConfirmedMovements(page: MovementPage): Query<Movement[]> {
  return {
    ...confirmedText(page.place.mode),
    values: valuesOf(page),
    read: all({ ...PAYMENT_ROW, moved_micro: computed.numeric }, (row) =>
      toPaymentMovement(row, TYPES[row.kind], BigInt(row.moved_micro)),
    ),
  }
}

/** Lists the failed payments for whose gas the wallet paid. Uses the index `payments_failed_with_gas`. */
export function listFailedMovements(page: MovementPage): Query<Movement[]> {
  return {
    ...failedText(page.place.mode),
    values: valuesOf(page),
    read: all({ ...PAYMENT_ROW, moved_micro: computed.numeric }, (row) => toPaymentMovement(row, 'failed_payment', 0n)),
  }
}

const DEPOSIT_ROW = {
  id: deposits.id,
  from_address: narrow<Address>(deposits.from_address),
  ...pick(deposits, 'amount_micro', 'tx_hash', 'block_number', 'created_at'),
}
const depositText = textOfMode(
  'list_deposit_movements',
  (mode) => `select ${listOf(DEPOSIT_ROW)} from deposits
    where workspace_id = $1 and mode = ${mode} and wallet_address = $2 and vanished_at is null
      and (block_number, id) > ($3, $4) and block_number <= $5
    order by block_number, id limit $6`,
)

/** Lists the deposits to a wallet in the order of the chain. Uses the index `deposits_by_block`. */
export function listDepositMovements(page: MovementPage): Query<Movement[]> {
  return {
    ...depositText(page.place.mode),
    values: valuesOf(page),
    read: all(DEPOSIT_ROW, (row): Movement => ({
      ...{ id: row.id, type: 'deposit', blockNumber: BigInt(row.block_number), confirmedAt: row.created_at },
      ...{ inMicro: BigInt(row.amount_micro), outMicro: 0n, gasWei: null, counterparty: row.from_address },
      ...{ txHash: row.tx_hash, paymentId: null, agentId: null, memo: null },
    })),
  }
}

/** The id of an unexplained transfer is made from its place in the chain. It is higher than the id of every payment. */
const UNEXPLAINED_ID = `'unx_' || tx_hash || '_' || log_index`
const UNEXPLAINED_ROW = {
  tx_hash: narrow<Hash>(unexplained.tx_hash),
  to_address: narrow<Address>(unexplained.to_address),
  ...pick(unexplained, 'block_number', 'mined_at'),
}

/**
 * Lists the transfers out of a wallet that no payment explains, in the order of the chain. Uses the index
 * `unexplained_transfers_of_wallet`.
 */
export function listUnexplainedMovements({ place, range, after, limit }: MovementPage): Query<Movement[]> {
  return {
    name: 'list_unexplained_movements',
    text: `select ${listOf(UNEXPLAINED_ROW)}, ${UNEXPLAINED_ID} as id, ${MOVED} as moved_micro
      from unexplained_transfers
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and payment_id is null
        and mined_at >= $4 and mined_at < $5 and (block_number, ${UNEXPLAINED_ID}) > ($6, $7)
      order by block_number, id limit $8`,
    values: [
      ...[place.workspaceId, place.mode, place.wallet, range.from, range.to],
      ...[after.blockNumber, after.id, limit],
    ],
    read: all({ ...UNEXPLAINED_ROW, id: computed.text, moved_micro: computed.numeric }, (row): Movement => ({
      ...{ id: row.id, type: 'unexplained_transfer', blockNumber: BigInt(row.block_number), confirmedAt: row.mined_at },
      ...{ inMicro: 0n, outMicro: BigInt(row.moved_micro), gasWei: null, counterparty: row.to_address },
      ...{ txHash: row.tx_hash, paymentId: null, agentId: null, memo: null },
    })),
  }
}

function valuesOf({ place, range, after, limit }: MovementPage): unknown[] {
  return [place.workspaceId, place.wallet, after.blockNumber, after.id, lastBlockOf(range), limit]
}

function toPaymentMovement(row: RowOf<typeof PAYMENT_ROW>, type: MovementType, outMicro: bigint): Movement {
  return {
    ...{ id: row.id, type, blockNumber: BigInt(row.mined_block), confirmedAt: row.settled_at, inMicro: 0n, outMicro },
    ...{ gasWei: row.gas_wei === null ? null : BigInt(row.gas_wei), counterparty: row.to_address },
    ...{ txHash: row.tx_hash, paymentId: row.id, agentId: row.agent_id, memo: row.memo },
  }
}
