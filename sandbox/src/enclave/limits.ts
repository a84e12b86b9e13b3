/** Every limit of the local enclave, with its unit and its reason. */

/** Many times the size of a policy with its ABIs. */
export const BODY_BYTES_MAX = 512 * 1024
/**
 * A `webauthn:` signature contains the request, base64url-encoded twice. Node's default of 16 KiB would reject a long
 * one.
 */
export const HEADER_BYTES_MAX = 64 * 1024
export const IDEMPOTENCY_KEY_CHARS_MAX = 256
/** The provider remembers a key for a day. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000
/** Expired keys removed in one tick of the follower, so that cleaning up never blocks the process for long. */
export const IDEMPOTENCY_PURGE_ROWS_MAX = 1_000
export const REFERENCE_CHARS_MAX = 64
/** The provider's limit on the names of policies, rules and quorums. */
export const NAME_CHARS_MAX = 50
export const RULES_MAX = 100
export const CONDITIONS_MAX = 100
/** The provider's limit on the number of values in an `in` condition. */
export const IN_VALUES_MAX = 100
export const ABI_ITEMS_MAX = 200
/** Types in typed data, and members of each. */
export const TYPES_MAX = 100
export const QUORUM_KEYS_MAX = 100
/** Each signer of a wallet costs up to one signature check per request. */
export const SIGNERS_MAX = 1_000
export const SIGNATURES_MAX = 100
/** The provider's limit on calldata: 150,000 bytes, plus the `0x`. */
export const DATA_CHARS_MAX = 300_002
/** Parsed public keys kept in memory. */
export const PUBLIC_KEYS_CACHED_MAX = 4_096
/** Sends that may wait for one wallet on one chain. */
export const WALLET_QUEUE_MAX = 10_000
/** How long a wallet's own transaction waits until its authorization is mined, and the delay between two checks. */
export const AUTHORIZATION_WAIT_MS_MAX = 5_000
export const AUTHORIZATION_POLL_MS = 100
/** A local node responds within milliseconds. One that hangs must not block a wallet's queue for long. */
export const CHAIN_TIMEOUT_MS = 10_000
/** Simulations sent to a node at once. With more, each takes longer, up to a call's time limit. */
export const SIMULATIONS_MAX = 8
/** Calls in one JSON-RPC batch. */
export const CHAIN_BATCH_MAX = 100
export const FOLLOW_INTERVAL_MS = 1_000
/** A transaction without a receipt is sent again after two blocks. */
export const RESEND_AFTER_MS = 2_000
/** Unmined transactions read per page, and pages per tick. */
export const OPEN_PAGE_ROWS = 500
export const OPEN_PAGES_MAX = 20
/** Blocks below the head whose transactions are checked again after a reorganization. */
export const REORG_BLOCKS_MAX = 256
/** The longest wait of an idle bundler, and the shortest time between two checks for due operations. */
export const BUNDLER_IDLE_MS = 10_000
export const BUNDLER_PAUSE_MS = 10
/** A bundle that could not be made, or failed, is made again after this time. */
export const BUNDLE_RETRY_MS = 1_000
/** User operations bundled at once. The next ones follow immediately. */
export const BUNDLED_MAX = 200
/** A user operation that should share its bundle is sent alone if no other one has arrived by then. */
export const BUNDLE_COMPANY_MS = 5_000
/** Confirmations after which a send is final: more than a local chain ever reorganizes. */
export const FINAL_BLOCKS = 16
/** After this time, the `timeout` fault closes the connection of a client that never hangs up. */
export const HELD_REQUEST_MS_MAX = 120_000
/** How far behind lagging reads are, and for how many resources this is tracked. */
export const READ_LAG_MS = 2_000
export const READ_LAG_ENTRIES_MAX = 10_000
/** How far the enclave's clock may be set apart: ten years in either direction. */
export const CLOCK_SKEW_MS_MAX = 10 * 366 * 24 * 60 * 60 * 1000
/** Faults that may be ordered at a time. */
export const FAULTS_MAX = 1_000_000
/** The longest that an orderly stop waits for a tick and the open requests. */
export const STOP_TIMEOUT_MS = 5_000
