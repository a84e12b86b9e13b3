import type { Context } from '../domain/context.ts'
import { OPERATOR } from '../domain/audit/audit-entry.ts'
import { endAllConnections } from '../domain/connections/end-all-connections.ts'
import { holdAllKeys } from '../domain/keys/hold-all-keys.ts'
import { endAllInvitations } from '../domain/members/end-all-invitations.ts'
import { reconcilePayment } from '../domain/reconciliation/reconcile-payment.ts'
import { listDueForLookup } from '../domain/reconciliation/reconciliation-store.ts'
import { endAllSessions } from '../domain/sessions/end-all-sessions.ts'
import { findLogStanding, createNewLog } from '../domain/transparency-log/create-new-log.ts'
import { compareLedger } from '../domain/unexplained-transfers/compare-ledger.ts'
import { findOpenRestore, insertRestore, markRestoreFinished } from '../domain/unexplained-transfers/restores-store.ts'
import { LOST_AUTHORIZATION_MS } from '../domain/unexplained-transfers/unexplained-transfer.ts'
import {
  findLedgerCursor,
  listAllUnexplained,
  rewindLedgerCursor,
} from '../domain/unexplained-transfers/unexplained-transfers-store.ts'
import { formatAmount } from '../values/money.ts'
import { MODES, type Mode } from '../values/mode.ts'

/** At most this many steps compare one mode. Together they reach back more than a year on a chain with 2-second blocks. */
const STEPS_MAX = 20_000
/** At most this many pending payments of a mode are looked up. The reconciler looks up the others. */
const PENDING_MAX = 1_000
/** At most this many unexplained transfers are printed. */
const LISTED_MAX = 200
/** Later than every look-up that is planned. */
const END_OF_TIME = new Date('9999-01-01T00:00:00Z')

/** What is printed about the transparency log, if no new one is begun. */
const LOG_STANDINGS = {
  continued: 'The transparency log has all leaves of the checkpoint in LOG_CHECKPOINT_FILE.',
  ended: 'The transparency log already says that the log of the checkpoint in LOG_CHECKPOINT_FILE ended.',
  lost: 'The database has lost leaves of the transparency log. With --yes or --new-log, a new log begins.',
  rewritten:
    'The transparency log contradicts the checkpoint in LOG_CHECKPOINT_FILE. With --new-log, a new log begins.',
  unknown:
    'No checkpoint of the transparency log was kept, so nothing shows whether leaves were lost. If they may be, add --new-log.',
} as const

export interface AfterRestoreOptions {
  /** Compare the blocks since this time again. Null to go on where the restored database stands. */
  readonly since: Date | null
  /** Whether to end sessions and connections and to hold API keys. Without it, only the ledger is compared. */
  readonly confirmed: boolean
  /** Whether to begin a new transparency log, also if nothing shows that the database has lost leaves. */
  readonly newLog: boolean
  readonly print: (line: string) => void
}

/**
 * Deals with a database that was restored from a backup (D96). Compares the chains and the enclave with the ledger for
 * the time that the backup does not contain, and records what it finds. With `confirmed`, also ends all sessions,
 * connections and invitations, and holds all API keys, because the backup brings back those that were ended since. If the
 * database has lost leaves of the transparency log, begins a new log.
 *
 * The work can be repeated after a failure. It is finished when no authorization that the backup does not contain can
 * still be used. Returns whether it is finished. Throws an `OperatorError` if the log was rewritten, and
 * `ChainUnavailable`, `EnclaveUnavailable` or `DatabaseUnavailable` if one of them cannot be reached.
 */
export async function runAfterRestore(
  ctx: Context,
  { since, confirmed, newLog, print }: AfterRestoreOptions,
): Promise<{ isFinished: boolean }> {
  // What the command itself changes then has leaves in the log that goes on.
  await compareLog(ctx, { confirmed, newLog, print })
  const restoredAt = confirmed ? await openRestore(ctx) : ctx.clock.now()
  if (confirmed) await endCredentials(ctx, { restoredAt, print })
  for (const mode of MODES) {
    await compareMode(ctx, { mode, since, print })
    await lookUpPending(ctx, { mode, print })
  }
  await printUnexplained(ctx, print)
  if (!confirmed) {
    print(
      'Nothing was ended. Run "npm run after-restore -- --yes" to end sessions and connections and to hold API keys.',
    )
    return { isFinished: false }
  }
  const finishedFrom = new Date(restoredAt.getTime() + LOST_AUTHORIZATION_MS)
  if (ctx.clock.now() < finishedFrom) {
    print(`Purchases that were signed before the restore can be paid until ${finishedFrom.toISOString()}.`)
    print('Run this command again after that time, to record the last of them.')
    return { isFinished: false }
  }
  await ctx.db.write(markRestoreFinished(restoredAt, ctx.clock.now()))
  print('Finished. In each workspace, an owner now checks the members, and confirms the keys on the page "API keys".')
  return { isFinished: true }
}

async function compareLog(
  ctx: Context,
  { confirmed, newLog, print }: Omit<AfterRestoreOptions, 'since'>,
): Promise<void> {
  const begun = confirmed || newLog ? await createNewLog(ctx, { isForced: newLog }) : null
  print(
    begun === null
      ? LOG_STANDINGS[await findLogStanding(ctx)]
      : `The transparency log goes on from ${begun.size} leaves as ${begun.origin}. It says that ${begun.ended.join(' and ')} ended.`,
  )
}

/** Returns the time of this restore. A command that runs again for the same restore gets the same time. */
async function openRestore(ctx: Context): Promise<Date> {
  const open = await ctx.db.read(findOpenRestore())
  if (open !== null) return open
  const restoredAt = ctx.clock.now()
  await ctx.db.write(insertRestore(restoredAt))
  return restoredAt
}

async function endCredentials(
  ctx: Context,
  { restoredAt, print }: { restoredAt: Date; print: (line: string) => void },
): Promise<void> {
  const actor = OPERATOR
  const { keys, workspaces } = await holdAllKeys(ctx, { actor, restoredAt })
  print(`Held ${keys} API keys of ${workspaces} workspaces.`)
  const { sessions } = await endAllSessions(ctx, { actor })
  const { connections } = await endAllConnections(ctx, { actor })
  const { invitations } = await endAllInvitations(ctx, { actor })
  print(`Ended ${sessions} sessions, ${connections} connections and ${invitations} invitations.`)
}

async function compareMode(
  ctx: Context,
  { mode, since, print }: { mode: Mode; since: Date | null; print: (line: string) => void },
): Promise<void> {
  if (since !== null) await ctx.db.write(rewindLedgerCursor(mode, await findBlockBefore(ctx, mode, since)))
  const from = await ctx.db.read(findLedgerCursor(mode))
  for (let step = 0; step < STEPS_MAX; step += 1) {
    if (!(await compareLedger(ctx, { mode })).isCaughtUp) continue
    const to = await ctx.db.read(findLedgerCursor(mode))
    print(`Compared the ${mode} ledger with its chain, from block ${from ?? to} to block ${to}.`)
    return
  }
  throw new Error(`the ${mode} chain has more blocks than ${STEPS_MAX} steps compare`)
}

/** Finds the last block whose time is before `time`, by halving the range. */
async function findBlockBefore(ctx: Context, mode: Mode, time: Date): Promise<bigint> {
  const chain = ctx.chains[mode]
  const seconds = BigInt(Math.floor(time.getTime() / 1_000))
  let [before, after] = [0n, (await chain.readHead()) + 1n]
  while (after - before > 1n) {
    const middle = (before + after) / 2n
    if ((await chain.readBlockSeconds(middle)) < seconds) before = middle
    else after = middle
  }
  return before
}

/** Asks the enclave and the chain about the payments that the backup contains without their outcome. */
async function lookUpPending(
  ctx: Context,
  { mode, print }: { mode: Mode; print: (line: string) => void },
): Promise<void> {
  const pending = await ctx.db.read(listDueForLookup(mode, END_OF_TIME, PENDING_MAX))
  for (const payment of pending) await reconcilePayment(ctx, { payment })
  print(`Looked up ${pending.length} pending payments of the ${mode} mode.`)
}

async function printUnexplained(ctx: Context, print: (line: string) => void): Promise<void> {
  const found = await ctx.db.read(listAllUnexplained(LISTED_MAX))
  print(`Transfers that no payment explains: ${found.length}${found.length === LISTED_MAX ? ' or more' : ''}.`)
  for (const { workspaceId, mode, wallet, to, amountMicro, minedAt, txHash, nonce } of found) {
    const kind = nonce === null ? 'transfer' : 'purchase'
    const when = minedAt.toISOString()
    print(
      `  ${when} ${mode} ${kind} ${formatAmount(amountMicro)} USDC from ${wallet} to ${to} (${workspaceId}, ${txHash})`,
    )
  }
  if (found.length === 0) return
  print(
    'Each counts towards the 24-hour limits of its wallet. If its idempotency key comes back, its payment is recorded.',
  )
}
