import { ADDRESSES_PER_READ_MAX } from '../../server/src/chain/address-filters.ts'
import { BALANCES_PER_BATCH_MAX } from '../../server/src/chain/balance-reader.ts'
import { RECEIPTS_PER_BATCH_MAX } from '../../server/src/chain/open-chain.ts'
import { REREAD_BLOCKS_MIN } from '../../server/src/domain/deposits/read-again.ts'
import { FILTERED_WALLETS_MAX } from '../../server/src/domain/deposits/read-transfers.ts'
import type { Assumptions } from './assumptions.ts'

/** What one chain's nodes are asked for in a second: calls, the HTTP requests that carry them, and the bytes of logs. */
export interface ChainUse {
  readonly calls: number
  readonly requests: number
  readonly logBytes: number
}

/** What a cell has on one chain. */
export interface Follower {
  readonly wallets: number
  readonly paymentsPerSecond: number
  readonly transfersPerBlock: number
}

/**
 * - `today`: each cell reads the chain by itself, as the code does. `npm run bench:cell` counts these calls.
 * - `without repeats`: each cell still reads the chain by itself, but asks for nothing that it has read already. The page
 *   of the documentation lists the three changes that this needs.
 * - `one follower`: one program reads each chain, and gives all cells the blocks' transfers. The cells ask only for what
 *   belongs to single payments.
 */
export const WAYS = ['today', 'without repeats', 'one follower'] as const
export type Way = (typeof WAYS)[number]

/** `watch-chain.ts`, `watch-deposits.ts`: rounds in a second while payments are pending, and while none is. */
const HEADS_BUSY = 1 / 0.4
const HEADS_IDLE = 1
/** `address-filters.ts`. */
const ADDRESSES_PER_FILTER = 100
/** `watch-balances.ts`, `record-balances.ts`. */
const BALANCES_SECONDS = 15
const BALANCES_PER_ROUND = 500
/** `compare-ledgers.ts`. */
const LEDGER_SECONDS = 60
/** `balance-reader.ts`: the head, and the balance at that block. */
const CALLS_PER_BALANCE = 2
/** `receipt-schedule.ts`: once when the hash is known, and once at the next block. */
const RECEIPTS_PER_PAYMENT = 2
/** A Transfer log as nodes return it in JSON: an address, three topics, a word, three hashes and four numbers. */
const LOG_BYTES = 640

const NOTHING: ChainUse = { calls: 0, requests: 0, logBytes: 0 }

/** What one cell asks the nodes of one chain for, by purpose. */
export function usesOfCell(follower: Follower, way: Way, assumptions: Assumptions): Record<string, ChainUse> {
  const shared = way === 'one follower'
  const repeats = way === 'today'
  const { heads, blocks } = usesOfReader(follower, assumptions)
  return {
    heads: shared ? NOTHING : heads,
    'deposits, each block twice': shared ? NOTHING : blocks,
    'comparison of the ledger': repeats ? compareLedger(follower) : NOTHING,
    'stored balances': repeats ? readAllBalances(follower) : NOTHING,
    readiness: askReadiness(assumptions, repeats ? 1 : 1 / 10),
    'balances of payers': readPayers(follower),
    receipts: readReceipts(follower, assumptions),
  }
}

/** What the program that reads a chain for all cells asks for. It is the same for any number of cells. */
export function useOfFollower(transfersPerBlock: number, assumptions: Assumptions): ChainUse {
  const everything = { wallets: Infinity, paymentsPerSecond: Infinity, transfersPerBlock }
  const { heads, blocks } = usesOfReader(everything, assumptions)
  return addUses([heads, blocks])
}

export function addUses(uses: readonly ChainUse[]): ChainUse {
  const sum = (read: (use: ChainUse) => number): number => uses.reduce((total, use) => total + read(use), 0)
  return {
    calls: sum(({ calls }) => calls),
    requests: sum(({ requests }) => requests),
    logBytes: sum(({ logBytes }) => logBytes),
  }
}

function usesOfReader(
  { wallets, paymentsPerSecond, transfersPerBlock }: Follower,
  { secondsPerBlock, pendingSeconds }: Assumptions,
): { heads: ChainUse; blocks: ChainUse } {
  const busy = 1 - Math.exp(-paymentsPerSecond * pendingSeconds)
  const heads = busy * HEADS_BUSY + (1 - busy) * HEADS_IDLE
  const isFiltered = wallets <= FILTERED_WALLETS_MAX
  const filters = isFiltered ? Math.ceil(wallets / ADDRESSES_PER_FILTER) : 1
  const rereads = secondsPerBlock * Number(REREAD_BLOCKS_MIN)
  const logs = isFiltered ? 0 : transfersPerBlock * LOG_BYTES
  return {
    heads: { calls: heads, requests: heads, logBytes: 0 },
    blocks: {
      // The block and its logs. Then three blocks' headers, the logs of the range, and those of its last block.
      calls: (1 + filters) / secondsPerBlock + (4 + filters) / rereads,
      requests: 2 / secondsPerBlock + 3 / rereads,
      logBytes: (logs * (2 + 1 / Number(REREAD_BLOCKS_MIN))) / secondsPerBlock,
    },
  }
}

function compareLedger({ wallets }: Follower): ChainUse {
  const reads = Math.ceil(wallets / ADDRESSES_PER_READ_MAX)
  // The head. Then for each page of wallets two headers, the filters, and the first filter for the last block.
  const calls = 1 + reads * 3 + Math.ceil(wallets / ADDRESSES_PER_FILTER)
  return { calls: calls / LEDGER_SECONDS, requests: (1 + reads * 2) / LEDGER_SECONDS, logBytes: 0 }
}

function readAllBalances({ wallets }: Follower): ChainUse {
  const read = Math.min(wallets, BALANCES_PER_ROUND)
  const rounds = Math.ceil(read / BALANCES_PER_BATCH_MAX)
  return { calls: (read + rounds) / BALANCES_SECONDS, requests: (rounds * 2) / BALANCES_SECONDS, logBytes: 0 }
}

function askReadiness({ processesPerCell, readinessChecksPerSecond }: Assumptions, share: number): ChainUse {
  const calls = processesPerCell * Math.min(readinessChecksPerSecond, 1) * share
  return { calls, requests: calls, logBytes: 0 }
}

/** The most that it can be: payments that arrive in the same turn, and those of one wallet within a second, share a read. */
function readPayers({ paymentsPerSecond }: Follower): ChainUse {
  const calls = paymentsPerSecond * CALLS_PER_BALANCE
  return { calls, requests: calls, logBytes: 0 }
}

/** Each round reads the receipts of new transactions, and each block those of all pending ones, up to 100 together. */
function readReceipts({ paymentsPerSecond }: Follower, { secondsPerBlock }: Assumptions): ChainUse {
  const rounds = HEADS_BUSY * (1 - Math.exp(-paymentsPerSecond / HEADS_BUSY))
  const blocks = (1 - Math.exp(-paymentsPerSecond * secondsPerBlock)) / secondsPerBlock
  const full = (paymentsPerSecond * RECEIPTS_PER_PAYMENT) / RECEIPTS_PER_BATCH_MAX
  const requests = Math.max(rounds + blocks, full)
  return { calls: paymentsPerSecond * RECEIPTS_PER_PAYMENT + requests, requests, logBytes: 0 }
}
