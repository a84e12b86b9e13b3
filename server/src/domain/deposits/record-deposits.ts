import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { DomainEvent } from '../events/event.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { placeTransfers, type Deposit, type DepositCursor, type PlacedTransfer } from './deposit.ts'
import { formatDeposit } from './format-deposit.ts'
import { insertDeposits, moveCursor } from './deposits-store.ts'

/** Each is an event and its deliveries, all in one batch. */
const DEPOSITS_PER_TRANSACTION_MAX = 250

/**
 * Records transfers to wallets of the mode as deposits, each once whoever records it how often, with its event in the
 * transaction that makes it true (D43), and moves the cursor in the last such transaction. So a crash anywhere leaves
 * nothing that reading the same blocks again would not complete.
 *
 * `transfers` are all those of whole blocks, those to each wallet in the chain's order. Answers the deposits that are new,
 * or null when the cursor does not stand at `from`, since another process has moved it.
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
  const placed = placeTransfers(transfers)
  for (let start = 0; ; start += DEPOSITS_PER_TRANSACTION_MAX) {
    const end = start + DEPOSITS_PER_TRANSACTION_MAX
    const isLast = end >= placed.length
    const move = { from: cursor.from, to: isLast ? cursor.to : cursor.from }
    const deposits = await recordSome(ctx, { mode, transfers: placed.slice(start, end), cursor: move })
    if (deposits === null) return null
    recorded.push(...deposits)
    if (isLast) return recorded
  }
}

/** Under the cursor's lock: of several processes one records, and the others find the cursor moved. */
async function recordSome(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    mode,
    transfers,
    cursor,
  }: { mode: Mode; transfers: readonly PlacedTransfer[]; cursor: { from: DepositCursor; to: DepositCursor } },
): Promise<Deposit[] | null> {
  return await ctx.db.transaction(async (transaction) => {
    if (!(await transaction.run(moveCursor(mode, cursor.from, cursor.to)))) return null
    if (transfers.length === 0) return []
    // Behind the lock: ids tell when things became true, and readers of events rely on it.
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
