/** Delay between two checks of a node that starts or stops. */
export const NODE_POLL_MS = 10
export const NODE_START_TIMEOUT_MS = 30_000
export const NODE_STOP_TIMEOUT_MS = 5_000

/** The threads of a killed node release its port one after the other, even after the process itself is gone. */
export const PORT_RELEASE_TIMEOUT_MS = 1_000

/** One call to a node. Saving the state of a long chain takes a few hundred milliseconds. */
export const RPC_TIMEOUT_MS = 30_000

/**
 * After the last transaction, blocks keep the normal block time for this long, so that confirmations take their usual
 * time.
 */
export const ACTIVE_MS = 120_000

/**
 * On an idle chain, an empty block is mined this often. The node keeps every block in memory: 10,000 blocks, which is
 * three hours at one per second, take 50 to 100 MB.
 */
export const IDLE_BLOCK_MS = 30_000

/**
 * The deepest reorganization. For this, the node keeps the state after each of the last blocks, about 1 MB each on a
 * long chain.
 */
export const REORG_BLOCKS_MAX = 12
export const HISTORY_STATES_MAX = 16

/** The most blocks that one call mines. A block takes 1 ms, plus 1 ms for every thousand blocks before it. */
export const MINE_BLOCKS_MAX = 1_000

/**
 * After a block that is more than half full, the node would raise its base fee above 0 and never lower it to 0 again.
 * This limit has room for 1,800 payments per block, more than the node can execute in a second.
 */
export const BLOCK_GAS_MAX = 300_000_000

/** The shortest time between two saves, and the largest share of time spent on saving. */
export const SAVE_INTERVAL_MS = 3_000
export const SAVE_TIME_SHARE_MAX = 0.05

/** Empty blocks kept across a restart, newest first. A block is 1.7 kB of JSON. */
export const EMPTY_BLOCKS_KEPT_MAX = 2_000

/** How long to wait until one of the sandbox's own transactions is in a block. */
export const RECEIPT_TIMEOUT_MS = 30_000
