import type { ListedMovement } from '../domain/reports/statements/list-movements.ts'
import type { Statement, StatementBalance } from '../domain/reports/statements/statement.ts'
import { startOfMonth, addMonths } from '../domain/months/month.ts'
import { formatCoin } from '../values/gas.ts'
import { formatAmount } from '../values/money.ts'
import type { TimeZone } from '../values/time-zone.ts'
import type { CsvRow } from './csv.ts'

export const STATEMENT_COLUMNS = [
  ...(['confirmed_at', 'block_number', 'type', 'in_usdc', 'out_usdc', 'balance_usdc', 'currency'] as const),
  ...(['counterparty', 'counterparty_name', 'agent_id', 'memo', 'resource', 'gas', 'gas_currency', 'id'] as const),
  ...(['tx_hash', 'note', 'category', 'link', 'wallet', 'wallet_name', 'time_zone', 'remark'] as const),
]

export type StatementRow = CsvRow<(typeof STATEMENT_COLUMNS)[number]>

interface StatementFile {
  readonly statement: Statement
  /** Statements are in UTC (D90). */
  readonly utc: TimeZone
  readonly coin: string
  /** The names of recipients, by their addresses. */
  readonly names: ReadonlyMap<string, string>
  /** Returns the next movements. An empty list is the end. */
  readonly next: () => Promise<readonly ListedMovement[]>
}

/**
 * Makes the rows of a statement: the opening balance, every movement with the balance after it, what no movement
 * explains, and the closing balance. So in each file the opening balance plus `in_usdc` minus `out_usdc` is the closing
 * balance.
 */
export function createStatementRows(file: StatementFile): () => Promise<readonly StatementRow[] | null> {
  const { statement, utc } = file
  let step: 'opening' | 'movements' | 'end' = 'opening'
  let balanceMicro = statement.opening.micro
  const shared = {
    ...{ currency: 'USDC', wallet: statement.wallet, wallet_name: statement.walletName, time_zone: utc.name },
  }
  const balanceRow = (type: string, balance: StatementBalance, at: Date): StatementRow => ({
    ...shared,
    ...{ type, confirmed_at: utc.format(at), block_number: balance.block?.toString() ?? null },
    ...{ balance_usdc: formatAmount(balance.micro), remark: describeBalance(balance) },
  })
  const movementRow = (movement: ListedMovement): StatementRow => {
    const { inMicro, outMicro, gasWei } = movement
    balanceMicro += inMicro - outMicro
    return {
      ...shared,
      ...{ type: movement.type, confirmed_at: utc.format(movement.confirmedAt), id: movement.id },
      block_number: String(movement.blockNumber),
      in_usdc: inMicro === 0n ? null : formatAmount(inMicro),
      out_usdc: outMicro === 0n ? null : formatAmount(outMicro),
      ...{ balance_usdc: formatAmount(balanceMicro), counterparty: movement.counterparty },
      counterparty_name: file.names.get(movement.counterparty) ?? null,
      ...movement.note,
      ...{ agent_id: movement.agentId, memo: movement.memo, resource: movement.purchase?.resourceUrl ?? null },
      gas: gasWei === null ? null : formatCoin(gasWei),
      ...{ gas_currency: gasWei === null ? null : file.coin, tx_hash: movement.txHash },
    }
  }
  const closingRows = (): StatementRow[] => {
    const end = startOfMonth(addMonths(statement.month, 1))
    const { closing, state, pending } = statement
    // The last movements may have been recorded after the sums were read. The file adds up what it contains.
    const isComputed = closing.source === 'computed'
    const differenceMicro = isComputed ? 0n : closing.micro - balanceMicro
    const difference: StatementRow = {
      ...{ ...shared, type: 'unexplained_difference', remark: 'No movement explains this amount.' },
      in_usdc: differenceMicro > 0n ? formatAmount(differenceMicro) : null,
      out_usdc: differenceMicro < 0n ? formatAmount(-differenceMicro) : null,
      balance_usdc: formatAmount(closing.micro),
    }
    const balance = isComputed ? { ...closing, micro: balanceMicro } : closing
    const row = balanceRow(state === 'open' ? 'balance_so_far' : 'closing_balance', balance, end)
    const remark = [row.remark, state === 'settling' ? describeSettling(pending) : null]
    return [
      ...(differenceMicro === 0n ? [] : [difference]),
      {
        ...row,
        remark: remark.filter((text) => text !== null).join(' '),
        ...(state === 'open' && { confirmed_at: null }),
      },
    ]
  }
  return async () => {
    if (step === 'end') return null
    if (step === 'opening') {
      step = 'movements'
      return [balanceRow('opening_balance', statement.opening, startOfMonth(statement.month))]
    }
    const movements = await file.next()
    if (movements.length > 0) return movements.map(movementRow)
    step = 'end'
    return closingRows()
  }
}

function describeBalance({ source, block }: StatementBalance): string {
  switch (source) {
    case 'chain':
      return `The balance on the chain after block ${block}.`
    case 'created':
      return 'The wallet was created in this month.'
    case 'computed':
      return block === null
        ? 'Computed from the movements: the month is not over.'
        : 'Computed from the movements: the chain could not be asked for this balance.'
  }
}

function describeSettling(pending: number): string {
  return pending === 0
    ? 'Not final: the last blocks of the month are still being read.'
    : `Not final: ${pending} payments are still pending.`
}
