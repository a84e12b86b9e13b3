import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import type { Query } from '../../db/query.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { DomainEvent } from '../events/event.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { numberTransfers, type Deposit, type DepositCursor, type NumberedTransfer } from './deposit.ts'
import { formatDeposit } from './format-deposit.ts'
import { insertDeposits, moveCursor, moveDeposits } from './deposits-store.ts'

/**
 * The maximum number of deposits in one transaction. It is low because each deposit also writes an event and the
 * deliveries of this event.
 */
const DEPOSITS_PER_TRANSACTION_MAX = 250

/** The progress that is recorded together with the deposits. */
export interface DepositProgress {
  /** Locks the progress. Returns false if another process has moved it. */
  readonly hold: Query<boolean>
  /** Moves the progress. Returns false if another process has moved it. */
  readonly move: Query<boolean>
}

/** The progress of reading new blocks. */
export function cursorMove(mode: Mode, { from, to }: { from: DepositCursor; to: DepositCursor }): DepositProgress {
  return { hold: moveCursor(mode, from, from), move: moveCursor(mode, from, to) }
}

/**
 * Records transfers to wallets of the mode as deposits. Each deposit is recorded only once, even if its block is read
 * several times; if another block contains it now, that is recorded. Each new deposit is recorded in one transaction with its event (D43). If several transactions are needed, the last one moves
 * the progress, for example the last block that was read. So after a crash, the same blocks are read again and the
 * missing deposits are added.
 *
 * `transfers` must contain all transfers to these wallets in each block, in the chain's order. Returns the new
 * deposits, or null if another process has moved the progress.
 */
export async function recordDeposits(
  ctx: Pick<Context, 'db' | 'clock'>,
  { mode, transfers, progress }: { mode: Mode; transfers: readonly LoggedTransfer[]; progress: DepositProgress },
): Promise<Deposit[] | null> {
  const recorded: Deposit[] = []
  const numbered = numberTransfers(transfers)
  for (let start = 0; ; start += DEPOSITS_PER_TRANSACTION_MAX) {
    const end = start + DEPOSITS_PER_TRANSACTION_MAX
    const isLast = end >= numbered.length
    const lock = isLast ? progress.move : progress.hold
    const deposits = await recordBatch(ctx, { mode, transfers: numbered.slice(start, end), lock })
    if (deposits === null) return null
    recorded.push(...deposits)
    if (isLast) return recorded
  }
}

/**
 * Records deposits in one transaction that first locks the progress. So only one process records them, and the others
 * find that the progress has moved.
 */
async function recordBatch(
  ctx: Pick<Context, 'db' | 'clock'>,
  { mode, transfers, lock }: { mode: Mode; transfers: readonly NumberedTransfer[]; lock: Query<boolean> },
): Promise<Deposit[] | null> {
  return await ctx.db.transaction(async (transaction) => {
    if (!(await transaction.run(lock))) return null
    if (transfers.length === 0) return []
    // Read the clock only now, when we have the lock. Ids contain the time at which a deposit is recorded, and callers
    // that list deposits rely on the order of the ids.
    const now = ctx.clock.now()
    const found = transfers.map((transfer) => ({ ...transfer, id: createId('deposit', now) }))
    const [deposits] = await transaction.batch([
      insertDeposits({ mode, createdAt: now, deposits: found }),
      moveDeposits(mode, transfers),
    ])
    await transaction.commit(deposits.flatMap((deposit) => appendEvent(depositEvent(deposit))))
    return deposits
  })
}

function depositEvent(deposit: Deposit): DomainEvent {
  const { workspaceId, mode, createdAt } = deposit
  const id = createId('event', createdAt)
  return { id, workspaceId, mode, type: 'inbound.received', createdAt, data: { deposit: formatDeposit(deposit) } }
}
