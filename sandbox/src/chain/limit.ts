/** How long to wait before checking again whether a node has started or stopped. */
export const NODE_POLL_MS = 10
/** How long a node may take to answer after its start. It normally takes less than a second. */
export const NODE_START_TIMEOUT_MS = 15_000
/** A node that hangs at its start is stopped and started again. It is started at most this many times. */
export const NODE_STARTS_MAX = 3
/** The time limit of one check that a node has started. */
export const NODE_CHECK_TIMEOUT_MS = 1_000
export const NODE_STOP_TIMEOUT_MS = 5_000

/**
 * A killed node's threads end one after the other, even after the process itself is gone. So its port may stay in use
 * for a moment.
 */
export const PORT_RELEASE_TIMEOUT_MS = 1_000

/** The time limit of one call to a node. Saving the state of a long chain takes a few hundred milliseconds. */
export const RPC_TIMEOUT_MS = 30_000

/**
 * For this long after the last transaction, blocks are mined at the normal block time, so that confirmations take their
 * usual time.
 */
export const ACTIVE_MS = 120_000

/**
 * The interval between empty blocks on an idle chain. The node keeps every block in memory, and 10,000 blocks take 50
 * to 100 MB. At one block per second, the chain would have that many after three hours.
 */
export const IDLE_BLOCK_MS = 30_000

/**
 * The largest number of blocks that a reorganization can replace. The node must keep the state after each of these
 * blocks, which takes about 1 MB per block on a long chain.
 */
export const REORG_BLOCKS_MAX = 12
export const HISTORY_STATES_MAX = 16

/**
 * The largest number of blocks that one call mines. Mining a block takes 1 ms, plus 1 ms for every thousand existing
 * blocks.
 */
export const MINE_BLOCKS_MAX = 1_000

/**
 * The gas limit of a block. After a block that is more than half full, the node would raise its base fee above 0 and
 * never lower it to 0 again. So the limit is high: it leaves space for 1,800 payments per block, which is more than the
 * node can execute in a second.
 */
export const BLOCK_GAS_MAX = 300_000_000

/**
 * The shortest time between two saves of a chain's state, and the largest share of its time that the miner may spend on
 * saving.
 */
export const SAVE_INTERVAL_MS = 3_000
export const SAVE_TIME_SHARE_MAX = 0.05

/** The number of empty blocks kept across a restart. Older ones are dropped. A block takes 1.7 kB of JSON. */
export const EMPTY_BLOCKS_KEPT_MAX = 2_000

/** How long the sandbox waits until one of its own transactions is in a block. */
export const RECEIPT_TIMEOUT_MS = 30_000
