import { randomBytes } from 'node:crypto'
import type { ServerKey } from '../../db/server-key.ts'
import type { Context } from '../context.ts'
import { addLeaves } from './add-leaves.ts'
import {
  formatAnswerLeaf,
  formatEntryLeaf,
  formatPaymentLeaf,
  formatSignatureLeaf,
  formatUnavailableLeaf,
  SALT_BYTES,
  type LeafType,
  type LoggedEntry,
  type LoggedPayment,
  type LoggedPurchase,
  type LoggedSignature,
  type QueuedChange,
} from './leaf.ts'
import { requireContinued, type KeptCheckpoint } from './keep-checkpoint.ts'
import { lastTilesOf } from './tile.ts'
import {
  deleteQueuedChanges,
  findLoggedEntries,
  findLoggedPayments,
  findLoggedPurchases,
  findLoggedSignatures,
  findTiles,
  hasQueuedChange,
  keyOf,
  listQueuedChanges,
  lockLogHead,
} from './transparency-log-store.ts'

declare module '../context.ts' {
  interface Context {
    readonly transparencyLog: {
      /** The name of a log that has no leaf yet. */
      readonly origin: string
      /** The newest checkpoint that this process knows, in a file. Null if no file is set. */
      readonly kept: KeptCheckpoint | null
      /** The seed of the key that signs checkpoints. */
      readonly key: ServerKey
    }
  }
}

/**
 * Makes leaves of the changes that wait, at most `limit`, and adds them to the tree (D80). Returns their number.
 *
 * One transaction adds the leaves, stores the tiles that have changed, signs the checkpoint and removes the changes from
 * the queue. It locks the head of the tree first, so two processes never add leaves at the same position. Throws an
 * `OperatorError` if the tree does not contain what a checkpoint says that this process knows.
 */
export async function appendLeaves(
  ctx: Pick<Context, 'db' | 'logger' | 'transparencyLog'>,
  { limit }: { limit: number },
): Promise<number> {
  if (!(await ctx.db.read(hasQueuedChange()))) return 0
  const seed = await ctx.transparencyLog.key.read()
  return await ctx.db.transaction(async (transaction) => {
    // A change that waited for a lock of another one sees its row, so the two are listed in the order in which they were
    // made: either in one batch, by their numbers, or in two.
    const [head, changes] = await transaction.batch([lockLogHead(), listQueuedChanges(limit)])
    if (changes.length === 0) {
      await transaction.rollback()
      return 0
    }
    await requireContinued(ctx, { head, read: (query) => transaction.run(query) })
    const ofType = (...types: LeafType[]) => changes.filter(({ type }) => types.includes(type))
    const [entries, payments, signatures, purchases, lastTiles] = await transaction.batch([
      findLoggedEntries(ofType('audit')),
      findLoggedPayments(ofType('payment.decided', 'payment.ended')),
      findLoggedSignatures(ofType('signature')),
      findLoggedPurchases(ofType('purchase.answered')),
      findTiles(lastTilesOf(head.size)),
    ])
    const found = { entries, payments, signatures, purchases }
    const leaves = changes.map((change) => ({ change, content: formatChange(ctx, change, found) }))
    const origin = head.origin ?? ctx.transparencyLog.origin
    await transaction.commit([...addLeaves(leaves, { head, lastTiles, origin, seed }), deleteQueuedChanges(changes)])
    return leaves.length
  })
}

/** The rows that the changes have made, by `keyOf`. */
interface FoundRows {
  readonly entries: ReadonlyMap<string, LoggedEntry>
  readonly payments: ReadonlyMap<string, LoggedPayment>
  readonly signatures: ReadonlyMap<string, LoggedSignature>
  readonly purchases: ReadonlyMap<string, LoggedPurchase>
}

/**
 * Returns the leaf of a change. If its row is missing, somebody has deleted it by hand. The leaf then says that it is not
 * available, because one change must not keep all later ones out of the tree.
 */
function formatChange({ logger }: Pick<Context, 'logger'>, change: QueuedChange, found: FoundRows): string {
  const salt = randomBytes(SALT_BYTES)
  const leaf = formatFound(change, found, salt)
  if (leaf !== null) return leaf
  const { logId, type, subject } = change
  logger.error({ log: logId, type, subject }, 'a change is missing in the database, so its leaf does not describe it')
  return formatUnavailableLeaf(change, salt)
}

function formatFound(change: QueuedChange, found: FoundRows, salt: Buffer): string | null {
  const format = <Row>(
    rows: ReadonlyMap<string, Row>,
    formatRow: (change: QueuedChange, row: Row, salt: Buffer) => string,
  ): string | null => {
    const row = rows.get(keyOf(change))
    return row === undefined ? null : formatRow(change, row, salt)
  }
  switch (change.type) {
    case 'audit':
      return format(found.entries, formatEntryLeaf)
    case 'payment.decided':
    case 'payment.ended':
      return format(found.payments, formatPaymentLeaf)
    case 'signature':
      return format(found.signatures, formatSignatureLeaf)
    case 'purchase.answered':
      return format(found.purchases, formatAnswerLeaf)
  }
}
