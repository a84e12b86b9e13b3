/** Between two looks at a node that starts or stops. */
export const NODE_POLL_MS = 10
export const NODE_START_TIMEOUT_MS = 30_000
export const NODE_STOP_TIMEOUT_MS = 5_000

/** The threads of a node that was killed let go of its port one after the other, when the node itself is already gone. */
export const PORT_RELEASE_TIMEOUT_MS = 1_000

/** One call to a node. Writing the state of a long chain takes a few hundred milliseconds. */
export const RPC_TIMEOUT_MS = 30_000

/** Blocks come every block time for this long after the last transaction, so that waiting for confirmations takes its usual time. */
export const ACTIVE_MS = 120_000

/**
 * On a chain where nothing happens, an empty block this often. Every block stays in the node's memory:
 * 10,000 of them, three hours' worth at one a second, cost 50 to 100 MB.
 */
export const IDLE_BLOCK_MS = 30_000

/** The deepest reorganisation. The node keeps the state after each of the last blocks for it, a megabyte each on a long chain. */
export const REORG_BLOCKS_MAX = 12
export const HISTORY_STATES_MAX = 16

/** The most blocks that one call mines. A block takes 1 ms, and another one for every thousand blocks before it. */
export const MINE_BLOCKS_MAX = 1_000

/**
 * The node would raise its base fee from 0, and never lower it to 0 again, after a block that is more than half full.
 * This is room for 1,800 payments in one block, more than the node can execute in a second.
 */
export const BLOCK_GAS_MAX = 300_000_000

/** At most one save in this time, and at most this share of the time spent on saving. */
export const SAVE_INTERVAL_MS = 3_000
export const SAVE_TIME_SHARE_MAX = 0.05

/** Blocks without a transaction that are kept over a restart, newest first. A block is 1.7 kB of JSON. */
export const EMPTY_BLOCKS_KEPT_MAX = 2_000

/** Until a transaction of the sandbox's own is in a block. */
export const RECEIPT_TIMEOUT_MS = 30_000
