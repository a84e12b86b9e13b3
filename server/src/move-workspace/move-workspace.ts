import { setTimeout as delay } from 'node:timers/promises'
import type { Hash } from 'viem'
import { compareCells } from '../db/compare-cells.ts'
import {
  countWorkUnderWay,
  deleteMovedRows,
  forgetRows,
  inMoveTransaction,
  lockWorkspaceRows,
  putInRows,
  putInSharedRows,
  readMovedRows,
  runQuery,
  sendRows,
  takeOutRows,
  type WorkUnderWay,
} from '../db/moved-rows.ts'
import { rewindCursor } from '../domain/deposits/deposits-store.ts'
import type { Move } from '../domain/moves/move.ts'
import {
  deleteMovedCredentials,
  findNewestMove,
  insertMove,
  insertMovedCredentials,
  listDepartures,
  lockMove,
  markMove,
} from '../domain/moves/moves-store.ts'
import { findWorkspaceById, findWorkspaceBySlug, updateMovingSince } from '../domain/workspaces/workspaces-store.ts'
import { rewindLedgerCursor } from '../domain/unexplained-transfers/unexplained-transfers-store.ts'
import { deleteCarriedLog } from '../domain/transparency-log/carried-leaves-store.ts'
import { readProcessMs, type Clock } from '../lib/clock.ts'
import { createId } from '../values/ids.ts'
import { MODES, type Mode } from '../values/mode.ts'
import type { Cell } from '../values/secret.ts'
import { carryLeaves } from './carry-leaves.ts'
import { MoveRefused, type Cells } from './cells.ts'

/** How long the work that has begun may take. An owner has five minutes to sign, and a seller may be slow. */
const DRAIN_MS_MAX = 600_000
/**
 * How long requests that were let in before the mark have to record what they do. A later one finds no wallet, and
 * responds with 404, although nothing is lost.
 */
const LET_IN_MS = 5_000
/** After the other work has ended, webhooks get this much longer. Those that are still being sent may be sent twice. */
const WEBHOOKS_MS_MAX = 30_000
const DRAIN_POLL_MS = 200
/** A transaction of the service may lock the same rows in another order. PostgreSQL then ends one of the two. */
const TAKE_OUT_TRIES_MAX = 20
const LOCKED_OUT = ['40P01', '40001', '55P03']
/** How long the rows of a workspace that was moved are kept. */
const KEEP_ROWS_MS = 7 * 86_400_000

/** A step that is finished. */
export type MoveStep = 'marked' | 'drained' | 'rows taken out' | 'taken out' | 'rows put in' | 'arrived' | 'moved'

export interface MoveOptions {
  /** The id or slug of the workspace. */
  readonly workspace: string
  /** The name of the other cell, which the old cell tells to routers and callers. */
  readonly cell: Cell
  readonly clock: Clock
  readonly print: (line: string) => void
  /** Is called after each step, two of them inside a transaction. Tests interrupt the move there. */
  readonly onStep?: ((step: MoveStep) => Promise<void> | void) | undefined
}

/**
 * Moves a workspace to another cell (D95). If it is interrupted, it goes on when it is called again, or `undoMove` puts
 * everything back. Two calls at the same time do no harm: each step happens once, whoever makes it.
 *
 * Throws `MoveRefused` if the workspace cannot be moved, and `RowsDiffer` if its rows would not be the same. Then the
 * workspace has not arrived.
 */
export async function moveWorkspace(cells: Cells, options: MoveOptions): Promise<Move> {
  const { print, onStep } = options
  const move = await beginMove(cells, options)
  await onStep?.('marked')
  if (move.state === 'draining') await takeOut(cells, move, options)
  await onStep?.('taken out')
  await arrive(cells, move, options)
  await onStep?.('arrived')
  const endedAt = options.clock.now()
  await inMoveTransaction(cells.from, async () => {
    if ((await lock(cells.from, move.id)).state !== 'taken_out') return
    await runQuery(cells.from, markMove(move.id, 'moved', endedAt))
  })
  await onStep?.('moved')
  print(`The workspace ${move.slug} is in the cell ${move.cell}. This cell keeps a copy of its rows for a week.`)
  return { ...move, state: 'moved', endedAt }
}

/** Undoes a move. Throws `MoveRefused` if the workspace works in the other cell already. */
export async function undoMove(
  { from, to }: Cells,
  { workspace, clock, print }: Pick<MoveOptions, 'workspace' | 'clock' | 'print'>,
): Promise<void> {
  const move = await runQuery(from, findNewestMove(workspace))
  if (move === null || move.state === 'arrived') throw new MoveRefused('This workspace is not being moved.')
  const undone = { ...move, state: 'undone', endedAt: clock.now() } as const
  // With this row, the move can never arrive. If it is arriving now, the insertion waits until that has ended.
  await runQuery(to, insertMove(undone))
  const there = await runQuery(to, lockMove(move.id))
  if (there?.state === 'arrived') {
    throw new MoveRefused('The workspace works in the other cell already. Move it back with the same command there.')
  }
  await inMoveTransaction(from, async () => {
    const { state } = await lock(from, move.id)
    if (state === 'moved') throw new Error('the other cell does not have the workspace, but this cell says it has')
    if (state === 'undone') return
    if (state === 'taken_out') await putInRows(from, move)
    await runQuery(from, deleteCarriedLog(move.workspaceId, move.id))
    await runQuery(from, updateMovingSince(move.workspaceId, null))
    await runQuery(from, deleteMovedCredentials(move.id))
    await deleteMovedRows(from, move.id)
    await runQuery(from, markMove(move.id, 'undone', undone.endedAt))
  })
  print(`The workspace ${move.slug} works in this cell as before.`)
}

/**
 * Deletes the rows of a workspace that was moved at least a week ago. This cell still responds to its credentials and its
 * members, and names the other cell.
 */
export async function forgetMovedRows(
  from: Cells['from'],
  { workspace, clock, print }: Pick<MoveOptions, 'workspace' | 'clock' | 'print'>,
): Promise<void> {
  const move = await runQuery(from, findNewestMove(workspace))
  if (move?.state !== 'moved' || move.endedAt === null) throw new MoveRefused('This workspace was not moved from here.')
  const keptUntil = new Date(move.endedAt.getTime() + KEEP_ROWS_MS)
  if (clock.now() < keptUntil) throw new MoveRefused(`Its rows are kept until ${keptUntil.toISOString()}.`)
  await forgetRows(from, move.id)
  print(`Deleted the copy of the workspace ${move.slug}.`)
}

/** Marks the workspace, or finds the move that an earlier call has begun. */
async function beginMove({ from, to }: Cells, { workspace, cell, clock, print }: MoveOptions): Promise<Move> {
  const found =
    (await runQuery(from, findWorkspaceById(workspace))) ?? (await runQuery(from, findWorkspaceBySlug(workspace)))
  const known = await runQuery(from, findNewestMove(found?.id ?? workspace))
  if (known !== null && (known.state === 'draining' || known.state === 'taken_out')) {
    if (known.cell !== cell) throw new MoveRefused(`The workspace is being moved to the cell ${known.cell}.`)
    print(`Going on with the move that began at ${known.startedAt.toISOString()}.`)
    return known
  }
  if (found === null) throw new MoveRefused('There is no workspace with this id or slug here.')
  const differences = await compareCells(from, to)
  if (differences.length > 0) throw new MoveRefused(`The cells differ: ${differences.join('; ')}.`)
  if ((await runQuery(to, findWorkspaceById(found.id))) !== null) {
    throw new MoveRefused('The other cell has this workspace. Does TO_DATABASE_URL lead to another cell?')
  }
  if ((await runQuery(to, findWorkspaceBySlug(found.slug))) !== null) {
    throw new MoveRefused(`The other cell has another workspace with the slug ${found.slug}.`)
  }
  const startedAt = clock.now()
  const { id: workspaceId, slug } = found
  const id = createId('move', startedAt)
  const move: Move = { id, workspaceId, slug, cell, state: 'draining', startedAt, endedAt: null }
  await inMoveTransaction(from, async () => {
    if (!(await runQuery(from, insertMove(move)))) throw new MoveRefused('Another call moves this workspace.')
    await runQuery(from, updateMovingSince(workspaceId, startedAt))
  })
  print(`The workspace ${slug} rejects requests that could write, since ${startedAt.toISOString()}.`)
  return move
}

/** Waits until the work that has begun is finished, and takes the rows of the workspace out of this cell. */
async function takeOut({ from }: Cells, move: Move, { clock, print, onStep }: MoveOptions): Promise<void> {
  const begunAtMs = readProcessMs()
  let quietSinceMs: number | null = null
  let printed = ''
  for (let tries = 1; ;) {
    const work = await countWorkUnderWay(from, move.workspaceId, clock.now())
    const waitedMs = readProcessMs() - begunAtMs
    const haveRecorded = clock.now().getTime() - move.startedAt.getTime() >= LET_IN_MS
    quietSinceMs = haveRecorded && isQuiet(work) ? (quietSinceMs ?? waitedMs) : null
    const mayBeSentTwice = quietSinceMs !== null && waitedMs - quietSinceMs >= WEBHOOKS_MS_MAX
    if (quietSinceMs !== null && (work.deliveries === 0 || mayBeSentTwice)) {
      await onStep?.('drained')
      try {
        if (await takeOutNow(from, move, { clock, onStep, mayBeSentTwice })) {
          print(
            `Took the workspace out, ${Math.round((readProcessMs() - begunAtMs) / 100) / 10} s after the wait began.`,
          )
          return
        }
      } catch (error) {
        if (!isLockedOut(error) || tries >= TAKE_OUT_TRIES_MAX) throw error
        tries += 1
      }
    }
    const line = describeWork(work)
    if (line !== printed) print(line)
    printed = line
    if (waitedMs > DRAIN_MS_MAX) {
      throw new MoveRefused('The work did not end in ten minutes. Run the command again, or with --undo.')
    }
    await delay(DRAIN_POLL_MS)
  }
}

/** Returns false if new work has begun meanwhile. */
async function takeOutNow(
  from: Cells['from'],
  move: Move,
  { clock, onStep, mayBeSentTwice }: Pick<MoveOptions, 'clock' | 'onStep'> & { mayBeSentTwice: boolean },
): Promise<boolean> {
  return await inMoveTransaction(from, async () => {
    const { state } = await lock(from, move.id)
    if (state === 'undone') throw new MoveRefused('The move was undone.')
    if (state !== 'draining') return true
    await lockWorkspaceRows(from, move.workspaceId)
    const work = await countWorkUnderWay(from, move.workspaceId, clock.now())
    if (!isQuiet(work) || (work.deliveries > 0 && !mayBeSentTwice)) return false
    await runQuery(from, insertMovedCredentials(move.id, move.workspaceId))
    await carryLeaves(from, move)
    await takeOutRows(from, move)
    await runQuery(from, markMove(move.id, 'taken_out', null))
    await onStep?.('rows taken out')
    return true
  })
}

/** Puts the workspace into the other cell, in one transaction. Does nothing if it has arrived. */
async function arrive({ from, to }: Cells, move: Move, { clock, print, onStep }: MoveOptions): Promise<void> {
  await inMoveTransaction(to, async () => {
    if (!(await runQuery(to, insertMove({ ...move, state: 'arrived', endedAt: clock.now() })))) {
      if ((await lock(to, move.id)).state !== 'arrived') throw new MoveRefused('The move was undone.')
      return
    }
    for (const earlier of await runQuery(to, listDepartures(move.workspaceId))) {
      // The workspace comes back, so this cell knows its credentials again.
      await runQuery(to, deleteMovedCredentials(earlier.id))
      await deleteMovedRows(to, earlier.id)
    }
    await sendRows(from, to, move.id)
    await putInSharedRows(to, move.id)
    await putInRows(to, move)
    await runQuery(to, updateMovingSince(move.workspaceId, null))
    await rewindChains(to, move.id)
    await deleteMovedRows(to, move.id)
    await onStep?.('rows put in')
  })
  print('The other cell has the same rows.')
}

/**
 * Sets back how far the new cell has read the chains to where the old one had read them, so that what arrived at the
 * wallets meanwhile is found.
 */
async function rewindChains(to: Cells['to'], moveId: string): Promise<void> {
  for (const row of await readMovedRows(to, moveId, 'deposit_cursors')) {
    const { block_number: block, block_hash: blockHash, reread_block: reread } = row
    const cursor = { blockNumber: toBlock(block), rereadBlock: toBlock(reread ?? block), blockHash: blockHash as Hash }
    await runQuery(to, rewindCursor(toMode(row['mode']), cursor))
  }
  for (const { mode, block_number: block } of await readMovedRows(to, moveId, 'ledger_cursors')) {
    await runQuery(to, rewindLedgerCursor(toMode(mode), toBlock(block)))
  }
}

function toBlock(text: string | null | undefined): bigint {
  return BigInt(text ?? 0)
}

function toMode(text: string | null | undefined): Mode {
  const mode = MODES.find((one) => one === text)
  if (mode === undefined) throw new Error(`unknown mode ${text}`)
  return mode
}

async function lock(client: Cells['from'], id: string): Promise<Move> {
  const move = await runQuery(client, lockMove(id))
  if (move === null) throw new Error(`there is no move ${id}`)
  return move
}

/** Returns whether nothing but webhooks is under way. */
function isQuiet({ payments, purchases, ownerChanges, leaves }: WorkUnderWay): boolean {
  return payments + purchases + ownerChanges + leaves === 0
}

function describeWork(work: WorkUnderWay): string {
  const { payments, purchases, ownerChanges, deliveries, leaves } = work
  if (isQuiet(work) && deliveries === 0) return 'Waiting for requests that were let in before.'
  return `Waiting for ${payments} payments, ${purchases} purchases, ${ownerChanges} changes of owners, ${deliveries} webhooks, ${leaves} entries of the transparency log.`
}

function isLockedOut(error: unknown): boolean {
  return error instanceof Error && 'code' in error && LOCKED_OUT.includes(String(error.code))
}
