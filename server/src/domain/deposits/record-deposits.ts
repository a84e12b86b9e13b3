import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { DomainEvent } from '../events/event.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { numberTransfers, type Deposit, type DepositCursor, type NumberedTransfer } from './deposit.ts'
import { formatDeposit } from './format-deposit.ts'
import { insertDeposits, moveCursor } from './deposits-store.ts'

/** Each deposit also writes an event and its deliveries in the same batch. */
const DEPOSITS_PER_TRANSACTION_MAX = 250

/**
 * Records transfers to wallets of the mode as deposits. Each deposit is recorded once, however often it is read, in one
 * transaction with its event (D43). The last transaction also moves the cursor, so after a crash the same blocks are read
 * again and whatever is missing is added.
 *
 * `transfers` must be complete for each block, with those to each wallet in the chain's order. Returns the new deposits,
 * or null if another process has moved the cursor away from `from`.
 */
export async function recordDeposits(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    mode,
    transfers,
    cursor,
  }: { mode: Mode; transfers: readonly LoggedTransfer[]; cursor: { from: DepositCursor; to: DepositCursor } },
): Promise<Deposit[] | null> {
  const recorded: Deposit[] = []
  const numbered = numberTransfers(transfers)
  for (let start = 0; ; start += DEPOSITS_PER_TRANSACTION_MAX) {
    const end = start + DEPOSITS_PER_TRANSACTION_MAX
    const isLast = end >= numbered.length
    const move = { from: cursor.from, to: isLast ? cursor.to : cursor.from }
    const deposits = await recordBatch(ctx, { mode, transfers: numbered.slice(start, end), cursor: move })
    if (deposits === null) return null
    recorded.push(...deposits)
    if (isLast) return recorded
  }
}

/** Holds the cursor's lock, so that one process records the deposits and the others find the cursor moved. */
async function recordBatch(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    mode,
    transfers,
    cursor,
  }: { mode: Mode; transfers: readonly NumberedTransfer[]; cursor: { from: DepositCursor; to: DepositCursor } },
): Promise<Deposit[] | null> {
  return await ctx.db.transaction(async (transaction) => {
    if (!(await transaction.run(moveCursor(mode, cursor.from, cursor.to)))) return null
    if (transfers.length === 0) return []
    // Read the clock after the lock is taken: ids contain the time at which a deposit is recorded, and readers rely on it.
    const now = ctx.clock.now()
    const found = transfers.map((transfer) => ({ ...transfer, id: createId('deposit', now) }))
    const deposits = await transaction.run(insertDeposits({ mode, createdAt: now, deposits: found }))
    await transaction.commit(deposits.flatMap((deposit) => appendEvent(depositEvent(deposit))))
    return deposits
  })
}

function depositEvent(deposit: Deposit): DomainEvent {
  const { accountId, mode, createdAt } = deposit
  const id = createId('event', createdAt)
  return { id, accountId, mode, type: 'inbound.received', createdAt, data: { deposit: formatDeposit(deposit) } }
}
