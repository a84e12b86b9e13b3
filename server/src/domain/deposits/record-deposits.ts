import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { DomainEvent } from '../events/event.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { numberTransfers, type Deposit, type DepositCursor, type NumberedTransfer } from './deposit.ts'
import { formatDeposit } from './format-deposit.ts'
import { insertDeposits, moveCursor } from './deposits-store.ts'

/**
 * The maximum number of deposits in one transaction. It is low because each deposit also writes an event and the
 * deliveries of this event.
 */
const DEPOSITS_PER_TRANSACTION_MAX = 250

/**
 * Records transfers to wallets of the mode as deposits. Each deposit is recorded only once, even if its block is read
 * several times, and in one transaction with its event (D43). If several transactions are needed, the last one moves
 * the cursor (the last block that was read). So after a crash, the same blocks are read again and the missing deposits
 * are added.
 *
 * `transfers` must contain all transfers to these wallets in each block, in the chain's order. Returns the new
 * deposits, or null if another process has moved the cursor away from `from`.
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

/**
 * Records deposits in one transaction that locks the cursor. So only one process records them, and the others find that
 * the cursor has moved.
 */
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
    // Read the clock only now, when we have the lock. Ids contain the time at which a deposit is recorded, and callers
    // that list deposits rely on the order of the ids.
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
