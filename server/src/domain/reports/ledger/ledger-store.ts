import { narrow, pick } from '../../../db/column.ts'
import { textOfMode } from '../../../db/bounded-scan-query.ts'
import { all, firstOrNull, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Deposit } from '../../deposits/deposit.ts'
import { DEPOSIT_COLUMNS, DEPOSIT_ROW, toDeposit } from '../../deposits/deposits-store.ts'
import type { Payment, PaymentKind } from '../../payments/payment.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, toPayment } from '../../payments/payments-store.ts'
import { depositIdsOf, paymentIdsOf, type LedgerPosition, type LedgerRange } from './ledger-entry.ts'

/** The conditions and the limit of every statement about the ledger. */
export interface LedgerSelection {
  readonly workspaceId: string
  readonly mode: Mode
  readonly wallet: Address | null
  readonly range: LedgerRange
  readonly limit: number
}

const listPaymentsText = (range: string): string => `select ${PAYMENT_COLUMNS} from payments
  where workspace_id = $1 and ${range} and kind <> 'withdrawal' order by id desc limit $4::bigint`
/**
 * Compares pairs: the agent or wallet, and the id. If the ids were compared alone, the planner could read the payments
 * of all agents or wallets.
 */
const rangeOf = (column: string): string =>
  `${column} = $5 and (${column}, id) >= ($5, $2) and (${column}, id) < ($5, $3)`

const allText = textOfMode('list_ledger_payments', (mode) =>
  listPaymentsText(`mode = ${mode} and id >= $2 and id < $3`),
)
const textOfAgent = textOfMode('list_ledger_payments_of_agent', (mode) =>
  listPaymentsText(`mode = ${mode} and ${rangeOf('agent_id')}`),
)
const textOfWallet = textOfMode('list_ledger_payments_of_wallet', (mode) =>
  listPaymentsText(`mode = ${mode} and ${rangeOf('wallet_address')}`),
)

/**
 * First finds the time of the last payment of the page, in the order of the index. Payments of the same time are sorted
 * by their ids. If the planner did not know the last time, it could sort all payments of the agent. `id || ''` keeps
 * the planner from reading the payments of all the agent's wallets.
 */
const pairText = (mode: string, status: string): string => {
  const selected = `workspace_id = $1 and mode = ${mode} and wallet_address = $5 and agent_id = $6 and status ${status} 'failed'
      and id || '' >= $2 and id || '' < $3 and created_at >= $7 and created_at <= $8`
  return `(
    select ${PAYMENT_COLUMNS} from payments
    where ${selected} and created_at >= coalesce((
      select created_at from payments where ${selected} order by created_at desc offset $4::bigint - 1 limit 1), $7)
    order by created_at desc, id desc limit $4::bigint)`
}
const textOfAgentAndWallet = textOfMode(
  'list_ledger_payments_of_agent_and_wallet',
  (mode) => `${pairText(mode, '<>')} union all ${pairText(mode, '=')} order by id desc limit $4::bigint`,
)

/**
 * Lists payments of agents, newest first. Uses `payments_listed`, `payments_of_agent` or `payments_from_wallet`. For
 * one agent and one wallet, uses `payments_in_window`, and `payments_failed` for the failed ones.
 */
export function listLedgerPayments({
  agentId,
  ...selection
}: LedgerSelection & { readonly agentId: string | null }): Query<Payment[]> {
  const { workspaceId, mode, wallet, range, limit } = selection
  const { from, below } = paymentIdsOf(range)
  const values = [workspaceId, from, below, limit]
  const read = all(PAYMENT_ROW, toPayment)
  if (agentId === null) {
    return wallet === null
      ? { ...allText(mode), values, read }
      : { ...textOfWallet(mode), values: [...values, wallet], read }
  }
  return wallet === null
    ? { ...textOfAgent(mode), values: [...values, agentId], read }
    : { ...textOfAgentAndWallet(mode), values: [...values, wallet, agentId, range.from, range.after.createdAt], read }
}

const withdrawalsText = textOfMode(
  'list_ledger_withdrawals',
  (mode) => `select ${PAYMENT_COLUMNS} from payments
    where workspace_id = $1 and mode = ${mode} and kind = 'withdrawal' and created_at >= $2
      and (created_at, id) < ($3, $4) and ($5::text is null or wallet_address = $5)
    order by created_at desc, id desc limit $6::bigint`,
)

/**
 * Lists withdrawals, newest first. Uses the index `payments_withdrawn`, also for one wallet: a person has signed each
 * withdrawal, so a workspace has few.
 */
export function listLedgerWithdrawals({ workspaceId, mode, wallet, range, limit }: LedgerSelection): Query<Payment[]> {
  const { from, after } = range
  const values = [workspaceId, from, after.createdAt, after.id, wallet, limit]
  return { ...withdrawalsText(mode), values, read: all(PAYMENT_ROW, toPayment) }
}

/** Grants have columns with the same names, so each column names its table. */
const FOUND_DEPOSIT_COLUMNS = Object.keys(DEPOSIT_ROW)
  .map((name) => `d.${name}`)
  .join(', ')

/**
 * Lists deposits to the wallets on which the agent has a signed grant that is not revoked, newest first. Uses
 * `grants_live_by_agent`, and `deposits_of_wallet` for each of these wallets: the comparisons of wallet and id together
 * keep the planner from reading the deposits of all wallets. A person has signed each of the grants, so an agent has
 * few.
 */
export function listLedgerDepositsOfAgent({
  workspaceId,
  mode,
  agentId,
  wallet,
  range,
  limit,
}: LedgerSelection & { readonly agentId: string }): Query<Deposit[]> {
  const { from, below } = depositIdsOf(range)
  return {
    name: 'list_ledger_deposits_of_agent',
    text: `select ${FOUND_DEPOSIT_COLUMNS} from grants g cross join lateral (
        select ${DEPOSIT_COLUMNS} from deposits
        where workspace_id = $1 and mode = $2
          and (wallet_address, id) >= (g.wallet_address, $3) and (wallet_address, id) < (g.wallet_address, $4)
        order by wallet_address desc, id desc limit $5::bigint
      ) d
      where g.workspace_id = $1 and g.mode = $2 and g.agent_id = $6 and g.status = 'active'
        and ($7::text is null or g.wallet_address = $7)
      order by d.id desc limit $5::bigint`,
    values: [workspaceId, mode, from, below, limit, agentId, wallet],
    read: all(DEPOSIT_ROW, toDeposit),
  }
}

const PAYMENT_POSITION_ROW = {
  ...pick(tables.payments, 'id', 'created_at', 'agent_id'),
  kind: narrow<PaymentKind>(tables.payments.kind),
}

/** Finds the position of a payment or withdrawal. Uses the primary key. */
export function findPaymentPosition(
  workspaceId: string,
  mode: Mode,
  id: string,
): Query<(LedgerPosition & Pick<Payment, 'agentId' | 'kind'>) | null> {
  return {
    name: 'find_payment_position',
    text: 'select id, created_at, agent_id, kind from payments where workspace_id = $1 and id = $2 and mode = $3',
    values: [workspaceId, id, mode],
    read: firstOrNull(PAYMENT_POSITION_ROW, (row) => ({
      ...{ id: row.id, createdAt: row.created_at, agentId: row.agent_id, kind: row.kind },
    })),
  }
}

/**
 * Finds the position of a deposit. If `agentId` is not null, finds only a deposit to a wallet on which this agent has a
 * signed grant that is not revoked. Uses primary keys and `grants_one_active_per_agent_and_wallet`.
 */
export function findDepositPosition(
  { workspaceId, mode, agentId }: { workspaceId: string; mode: Mode; agentId: string | null },
  id: string,
): Query<LedgerPosition | null> {
  return {
    name: 'find_deposit_position',
    text: `select d.id, d.created_at from deposits d where d.workspace_id = $1 and d.id = $2 and d.mode = $3
      and ($4::text is null or exists (
        select 1 from grants g where g.workspace_id = $1 and g.mode = $3 and g.agent_id = $4
          and g.wallet_address = d.wallet_address and g.status = 'active'))`,
    values: [workspaceId, id, mode, agentId],
    read: firstOrNull(pick(tables.deposits, 'id', 'created_at'), (row) => ({ id: row.id, createdAt: row.created_at })),
  }
}
