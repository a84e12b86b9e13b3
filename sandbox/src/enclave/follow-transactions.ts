import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockMark, ChainNode } from './chain-node.ts'
import type { EnclaveContext } from './context.ts'
import {
  FOLLOW_INTERVAL_MS,
  IDEMPOTENCY_PURGE_ROWS_MAX,
  IDEMPOTENCY_WINDOW_MS,
  OPEN_PAGES_MAX,
  OPEN_PAGE_ROWS,
  REORG_BLOCKS_MAX,
  RESEND_AFTER_MS,
} from './limits.ts'
import type { TransactionRecord } from './records.ts'
import { getWallet } from './wallets.ts'

/** What the follower remembers of a chain between two ticks. */
interface Watch {
  readonly caip2: string
  readonly chain: ChainNode
  head: BlockMark | null
  /** When each unmined transaction was met or sent again last, on the monotonic clock. */
  sentAtMs: Map<string, number>
  /** The chain may have lost its pool: whatever is open is sent at once. */
  resendAll: boolean
}

const NONCE_USED_PATTERN = /nonce too low/i

/**
 * Every second, for each chain: records which transactions were mined, and sends the others again, in the order of their nonces.
 * A local chain forgets: a reorganization or a restart from an older state takes blocks back, and a restart empties the pool. So a head that is not where it
 * was makes the wallets' mined nonces count anew, and whatever the chain has lost is open again. Stops when `signal` aborts.
 */
export async function followTransactions(context: EnclaveContext, signal: AbortSignal): Promise<void> {
  const watches = [...context.chains].map(([caip2, chain]): Watch => ({
    caip2,
    chain,
    head: null,
    sentAtMs: new Map(),
    resendAll: true,
  }))
  while (!signal.aborted) {
    // A chain that is out of reach is met again at the next tick.
    await Promise.allSettled(watches.map((watch) => followChain(context, watch)))
    context.store.purgeAnswers(context.clock.nowMs() - IDEMPOTENCY_WINDOW_MS, IDEMPOTENCY_PURGE_ROWS_MAX)
    await sleep(FOLLOW_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function followChain(context: EnclaveContext, watch: Watch): Promise<void> {
  const { head, hashAtHeight } = await watch.chain.readHead(watch.head?.number ?? null)
  if (watch.head === null || hashAtHeight !== watch.head.hash) await reopenLost(context, watch, head)
  watch.head = head
  let after = { walletId: '', nonce: -1 }
  const unmined = new Map<string, number>()
  for (let page = 0; page < OPEN_PAGES_MAX; page += 1) {
    const open = context.store.listOpen(watch.caip2, after, OPEN_PAGE_ROWS)
    await settleAndResend(context, watch, { open, unmined })
    const last = open.at(-1)
    if (last === undefined || open.length < OPEN_PAGE_ROWS) break
    after = { walletId: last.walletId, nonce: last.nonce }
  }
  watch.sentAtMs = unmined
  watch.resendAll = false
}

/** Opens again what the chain no longer has: nonces above the wallets' mined counts, and all in the blocks that may have been replaced. */
async function reopenLost({ store }: EnclaveContext, watch: Watch, head: BlockMark): Promise<void> {
  const walletIds = store.listSpenders(watch.caip2)
  const counts = await watch.chain.countManyTransactions(walletIds.map((id) => getWallet(store, id).address))
  store.inTransaction(() => {
    walletIds.forEach((walletId, index) => {
      const count = counts[index]
      if (typeof count === 'number') store.reopenNonces(walletId, watch.caip2, count)
    })
    const lowest = Math.min(head.number, watch.head?.number ?? head.number)
    store.reopenBlocks(watch.caip2, lowest - REORG_BLOCKS_MAX)
  })
  watch.resendAll = true
}

async function settleAndResend(
  { store }: EnclaveContext,
  watch: Watch,
  { open, unmined }: { open: readonly TransactionRecord[]; unmined: Map<string, number> },
): Promise<void> {
  const waiting = await settleMined({ store }, watch, open)
  const nowMs = performance.now()
  const due: TransactionRecord[] = []
  for (const tx of waiting) {
    // One that is met for the first time has just been sent, and is given time to be mined.
    const sentAtMs = watch.sentAtMs.get(tx.id) ?? nowMs
    const isDue = watch.resendAll || nowMs - sentAtMs >= RESEND_AFTER_MS
    if (isDue) due.push(tx)
    unmined.set(tx.id, isDue ? nowMs : sentAtMs)
  }
  const refusals = await watch.chain.rebroadcast(due.map((tx) => tx.raw))
  const overtaken = due.filter((_, index) => NONCE_USED_PATTERN.test(refusals[index] ?? ''))
  // Either it was mined a moment ago, or another transaction has its nonce and it never will be.
  const lost = await settleMined({ store }, watch, overtaken)
  if (lost.length > 0) store.inTransaction(() => lost.forEach((tx) => store.settleTransaction(tx.id, 'failed', null)))
}

/** Records the receipts that there are; answers the transactions without one. */
async function settleMined(
  { store }: Pick<EnclaveContext, 'store'>,
  watch: Watch,
  open: readonly TransactionRecord[],
): Promise<TransactionRecord[]> {
  if (open.length === 0) return []
  const receipts = await watch.chain.findReceipts(open.map((tx) => tx.hash))
  const waiting: TransactionRecord[] = []
  store.inTransaction(() => {
    open.forEach((tx, index) => {
      const receipt = receipts[index] ?? null
      if (receipt === null) waiting.push(tx)
      else store.settleTransaction(tx.id, receipt.succeeded ? 'confirmed' : 'execution_reverted', receipt.blockNumber)
    })
  })
  return waiting
}
