import { setTimeout as sleep } from 'node:timers/promises'
import { openBundlerAccount } from './bundler-account.ts'
import type { BlockMark, ChainNode } from './chain-node.ts'
import type { EnclaveContext } from './context.ts'
import {
  FINAL_BLOCKS,
  FOLLOW_INTERVAL_MS,
  IDEMPOTENCY_PURGE_ROWS_MAX,
  IDEMPOTENCY_WINDOW_MS,
  OPEN_PAGES_MAX,
  OPEN_PAGE_ROWS,
  REORG_BLOCKS_MAX,
  RESEND_AFTER_MS,
} from './limits.ts'
import { BUNDLER } from './records.ts'
import type { BroadcastRecord } from './records.ts'
import { settleLost, settleMined } from './settle-broadcasts.ts'
import { getWallet } from './wallets.ts'

/** What `followTransactions` remembers about a chain between two rounds. */
interface Watch {
  readonly caip2: string
  readonly chain: ChainNode
  head: BlockMark | null
  /** For each broadcast that is not mined: when it was first seen or last sent, on the monotonic clock. */
  sentAtMs: Map<string, number>
  /**
   * Whether the next round sends all unmined broadcasts again, even recent ones, because the chain may have lost its
   * pool.
   */
  resendAll: boolean
}

const NONCE_USED_PATTERN = /nonce too low/i

/**
 * Records which transactions were mined, and sends the others again in nonce order. Does this for each chain every
 * second, until `signal` aborts.
 *
 * A local chain can lose blocks, by a reorganization or by a restart from an older state. A restart also empties the
 * node's pool of pending transactions. If the last known block is not in the chain any more, the mined nonces of all
 * senders are read again. Each transaction that the chain has lost is then treated as unmined.
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
    // If a chain is unreachable, the next round tries it again.
    await Promise.allSettled(watches.map((watch) => followChain(context, watch)))
    context.store.purgeAnswers(context.clock.nowMs() - IDEMPOTENCY_WINDOW_MS, IDEMPOTENCY_PURGE_ROWS_MAX)
    await sleep(FOLLOW_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function followChain(context: EnclaveContext, watch: Watch): Promise<void> {
  const { head, hashAtHeight } = await watch.chain.readHead(watch.head?.number ?? null)
  if (watch.head === null || hashAtHeight !== watch.head.hash) await reopenLost(context, watch, head)
  watch.head = head
  let after = { sender: '', nonce: -1 }
  const unmined = new Map<string, number>()
  for (let page = 0; page < OPEN_PAGES_MAX; page += 1) {
    const open = context.store.listOpen(watch.caip2, after, OPEN_PAGE_ROWS)
    await settleAndResend(context, watch, { open, unmined })
    const last = open.at(-1)
    if (last === undefined || open.length < OPEN_PAGE_ROWS) break
    after = last
  }
  context.store.finalize(watch.caip2, head.number - FINAL_BLOCKS)
  watch.sentAtMs = unmined
  watch.resendAll = false
}

/**
 * Reopens the transactions that the chain no longer has: those whose nonces are not mined any more, and all
 * transactions in blocks that may have been replaced.
 */
async function reopenLost(context: EnclaveContext, watch: Watch, head: BlockMark): Promise<void> {
  const { store } = context
  const senders = store.listSenders(watch.caip2)
  const counts = await watch.chain.countManyTransactions(senders.map((sender) => findAddress(context, sender)))
  store.inTransaction(() => {
    senders.forEach((sender, index) => {
      const count = counts[index]
      if (typeof count === 'number') store.reopenNonces(sender, watch.caip2, count)
    })
    const lowest = Math.min(head.number, watch.head?.number ?? head.number)
    store.reopenBlocks(watch.caip2, lowest - REORG_BLOCKS_MAX)
  })
  context.delegations.forgetAll(watch.caip2)
  watch.resendAll = true
}

function findAddress(context: EnclaveContext, sender: string): string {
  return sender === BUNDLER ? openBundlerAccount(context).address : getWallet(context.store, sender).address
}

async function settleAndResend(
  context: EnclaveContext,
  watch: Watch,
  { open, unmined }: { open: readonly BroadcastRecord[]; unmined: Map<string, number> },
): Promise<void> {
  const waiting = await settleMined(context, watch.chain, open)
  const nowMs = performance.now()
  const due: BroadcastRecord[] = []
  for (const broadcast of waiting) {
    // A broadcast that we check for the first time was sent only a moment ago. It gets time to be mined before it is
    // sent again.
    const sentAtMs = watch.sentAtMs.get(broadcast.hash) ?? nowMs
    const isDue = watch.resendAll || nowMs - sentAtMs >= RESEND_AFTER_MS
    if (isDue) due.push(broadcast)
    unmined.set(broadcast.hash, isDue ? nowMs : sentAtMs)
  }
  const refusals = await watch.chain.rebroadcast(due.map(({ raw }) => raw))
  const overtaken = due.filter((_, index) => NONCE_USED_PATTERN.test(refusals[index] ?? ''))
  // The nonces of these broadcasts are used. Either these broadcasts were mined a moment ago, or other transactions
  // have used the nonces, so that these broadcasts will never be mined.
  await settleLost(context, watch.chain, await settleMined(context, watch.chain, overtaken))
}
