import { computed } from '../../db/column.ts'
import { all, one, type Query } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc, type MicroUsdc } from '../../values/money.ts'
import type { Payment } from './payment.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, toPayment } from './payments-store.ts'

/**
 * How long after its creation a pending payment reserves balance: its amount is subtracted from the wallet's balance
 * (D24a). After that time, the payment has also left the window of the daily cap.
 */
const BALANCE_HOLD_MS = 24 * 60 * 60 * 1_000

/** Returns the time after which a pending payment must have been created to reserve balance now. */
export function heldSince(now: Date): Date {
  return new Date(now.getTime() - BALANCE_HOLD_MS)
}

/** How a statement names the wallet, the block of the balance, and `heldSince`: as parameters or as columns. */
interface UnminedTerms {
  readonly workspace: string
  readonly mode: string
  readonly wallet: string
  readonly block: string
  readonly since: string
}

/**
 * Returns the SQL for the sum of a wallet's payments, of every kind, that a balance does not reflect yet. Pending
 * payments are found by `settled_at is null`. A check constraint of the table makes this the same as
 * `status = 'pending'`. With the condition on `status`, the planner could use `payments_to_reconcile`, which contains
 * the pending payments of every workspace.
 */
export function unminedSum({ workspace, mode, wallet, block, since }: UnminedTerms): string {
  return `(select coalesce(sum(s.amount_micro), 0) from (select p.amount_micro from payments p
          where p.workspace_id = ${workspace} and p.mode = ${mode} and p.wallet_address = ${wallet} and p.settled_at is null
            and p.created_at > ${since} and (p.mined_block is null or p.mined_block > ${block})
          order by p.created_at offset 0) s)
        + (select coalesce(sum(s.amount_micro), 0) from (select p.amount_micro from payments p
          where p.workspace_id = ${workspace} and p.mode = ${mode} and p.wallet_address = ${wallet} and p.status = 'confirmed'
            and p.mined_block > ${block}
          order by p.mined_block offset 0) s)`
}

/**
 * Sums the wallet's payments that its balance at `balanceBlock` does not reflect yet (D26). Uses the indexes
 * `payments_holding_balance` and `payments_confirmed_by_block`.
 */
export function sumUnmined(
  { workspaceId, mode, wallet }: { workspaceId: string; mode: Mode; wallet: Address },
  { now, balanceBlock }: { now: Date; balanceBlock: bigint },
): Query<MicroUsdc> {
  return {
    name: 'sum_unmined_payments',
    text: `select ${unminedSum({ workspace: '$1', mode: '$2', wallet: '$3', block: '$4', since: '$5' })} as unmined`,
    values: [workspaceId, mode, wallet, balanceBlock, heldSince(now)],
    read: one({ unmined: computed.numeric }, (row) => microUsdc(BigInt(row.unmined))),
  }
}

/**
 * Lists a wallet's pending payments whose end the chain may show: those that have a transaction hash, and purchases.
 * Uses the index `payments_holding_balance`.
 */
export function listAwaitingChainOfWallet(
  workspaceId: string,
  mode: Mode,
  wallet: Address,
  limit: number,
): Query<Payment[]> {
  return {
    name: 'list_wallet_payments_awaiting_chain',
    text: `select ${PAYMENT_COLUMNS} from payments
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and settled_at is null
        and (tx_hash is not null or kind = 'x402')
      order by created_at, id limit $4`,
    values: [workspaceId, mode, wallet, limit],
    read: all(PAYMENT_ROW, toPayment),
  }
}
