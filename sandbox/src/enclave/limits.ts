/** The limits of the local enclave, with their units and reasons. */

/** The largest body of a request. It is many times the size of a policy with its ABIs. */
export const BODY_BYTES_MAX = 512 * 1024
/**
 * The largest size of a request's headers. A `webauthn:` signature in a header contains the request, base64url-encoded
 * twice. The provider does not publish its limit. This is the default of Node.js, and of many other servers.
 */
export const HEADER_BYTES_MAX = 16 * 1024
export const IDEMPOTENCY_KEY_CHARS_MAX = 256
/** How long the provider remembers an idempotency key: one day. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000
/**
 * How many expired idempotency keys one round of `followTransactions` removes, so that a round never blocks the process
 * for long.
 */
export const IDEMPOTENCY_PURGE_ROWS_MAX = 1_000
export const REFERENCE_CHARS_MAX = 64
/** The provider's limit on the names of policies, rules and quorums. */
export const NAME_CHARS_MAX = 50
export const RULES_MAX = 100
export const CONDITIONS_MAX = 100
/** The provider's limit on the number of values in an `in` condition. */
export const IN_VALUES_MAX = 100
export const ABI_ITEMS_MAX = 200
/** The most types in typed data, and the most members of each type. */
export const TYPES_MAX = 100
export const QUORUM_KEYS_MAX = 100
/** The most signers of a wallet. A request may require one signature check for each signer. */
export const SIGNERS_MAX = 1_000
export const SIGNATURES_MAX = 100
/** The provider's limit on calldata in characters: 150,000 bytes in hexadecimal, plus the `0x`. */
export const DATA_CHARS_MAX = 300_002
/** The number of parsed public keys kept in memory. */
export const PUBLIC_KEYS_CACHED_MAX = 4_096
/** The number of sends that may wait for one wallet on one chain. */
export const WALLET_QUEUE_MAX = 10_000
/**
 * How long a wallet's transaction waits until the wallet's authorization (EIP-7702) is mined, and the delay between two
 * checks whether it is mined.
 */
export const AUTHORIZATION_WAIT_MS_MAX = 5_000
export const AUTHORIZATION_POLL_MS = 100
/**
 * The time limit of a call to a node. A local node responds within milliseconds, but on a busy machine, calls that are
 * made at the same time have taken more than 10 s.
 */
export const CHAIN_TIMEOUT_MS = 30_000
/**
 * The number of simulations that a node runs at once. With more, each one takes longer and may exceed its time limit.
 */
export const SIMULATIONS_MAX = 8
/** The number of calls in one JSON-RPC batch. */
export const CHAIN_BATCH_MAX = 100
export const FOLLOW_INTERVAL_MS = 1_000
/** A transaction without a receipt is sent again after this time, which is two blocks. */
export const RESEND_AFTER_MS = 2_000
/**
 * A round of `followTransactions` reads the unmined transactions in pages: this many transactions in a page, and at
 * most this many pages.
 */
export const OPEN_PAGE_ROWS = 500
export const OPEN_PAGES_MAX = 20
/** After a reorganization, the transactions in this many blocks below the head are checked again. */
export const REORG_BLOCKS_MAX = 256
/** The longest time that an idle bundler waits, and the shortest time between two checks for due operations. */
export const BUNDLER_IDLE_MS = 10_000
export const BUNDLER_PAUSE_MS = 10
/** If a bundle failed or could not be made, the operations are bundled again after this time. */
export const BUNDLE_RETRY_MS = 1_000
/** The number of user operations that are bundled at once. Further ones are bundled immediately afterwards. */
export const BUNDLED_MAX = 200
/**
 * How long an operation with the fault `two_in_one_bundle` waits for a second one. After this time, it is sent alone.
 */
export const BUNDLE_COMPANY_MS = 5_000
/** The number of confirmations after which a send is final. No reorganization of a local chain is this deep. */
export const FINAL_BLOCKS = 16
/**
 * The `timeout` fault leaves a request without a response. If the client does not hang up, the connection is closed
 * after this time.
 */
export const HELD_REQUEST_MS_MAX = 120_000
/** How far behind a lagging read is, and the number of resources whose earlier state is kept for such reads. */
export const READ_LAG_MS = 2_000
export const READ_LAG_ENTRIES_MAX = 10_000
/**
 * The largest difference that can be set between the enclave's clock and the server's: ten years in either direction.
 */
export const CLOCK_SKEW_MS_MAX = 10 * 366 * 24 * 60 * 60 * 1000
/** The number of faults that a caller may request in one call of the control endpoint. */
export const FAULTS_MAX = 1_000_000
/** How long a clean stop waits for the current round of `followTransactions` and for the open requests. */
export const STOP_TIMEOUT_MS = 5_000
