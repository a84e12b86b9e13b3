/** Every bound of the local enclave, with its unit and its reason. */

/** A policy with its ABIs fits many times over. */
export const BODY_BYTES_MAX = 512 * 1024
/** A `webauthn:` signature repeats the request, base64url encoded twice; Node's own 16 KiB would refuse a long one. */
export const HEADER_BYTES_MAX = 64 * 1024
export const IDEMPOTENCY_KEY_CHARS_MAX = 256
/** The provider remembers a key for a day. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000
/** Expired keys removed in one tick of the follower, so that tidying up never stops the process for long. */
export const IDEMPOTENCY_PURGE_ROWS_MAX = 1_000
export const REFERENCE_CHARS_MAX = 64
/** The provider's limit on names of policies, rules and quorums. */
export const NAME_CHARS_MAX = 50
export const RULES_MAX = 100
export const CONDITIONS_MAX = 100
/** The provider's limit on the values of an `in` condition. */
export const IN_VALUES_MAX = 100
export const ABI_ITEMS_MAX = 200
/** Types of typed data, and members of each. */
export const TYPES_MAX = 100
export const QUORUM_KEYS_MAX = 100
/** Each signer of a wallet costs up to one signature check a request. */
export const SIGNERS_MAX = 1_000
export const SIGNATURES_MAX = 100
/** The provider's limit on calldata: 150,000 bytes and the `0x`. */
export const DATA_CHARS_MAX = 300_002
/** Parsed public keys kept in memory. */
export const PUBLIC_KEYS_CACHED_MAX = 4_096
/** Sends that may wait for one wallet on one chain. */
export const WALLET_QUEUE_MAX = 10_000
/** How long a wallet's own transaction waits for its authorization to be mined, and between two looks. */
export const AUTHORIZATION_WAIT_MS_MAX = 5_000
export const AUTHORIZATION_POLL_MS = 100
/** A local node answers within milliseconds; a hung one must not hold a wallet's queue for long. */
export const CHAIN_TIMEOUT_MS = 10_000
/** Simulations that a node is given at a time: with more of them each takes longer, up to the time limit of a call. */
export const SIMULATIONS_MAX = 8
/** Calls in one JSON-RPC batch. */
export const CHAIN_BATCH_MAX = 100
export const FOLLOW_INTERVAL_MS = 1_000
/** A transaction without a receipt is sent again after two blocks of the local chains. */
export const RESEND_AFTER_MS = 2_000
/** Unmined transactions read in one page, and pages in one tick. */
export const OPEN_PAGE_ROWS = 500
export const OPEN_PAGES_MAX = 20
/** Blocks below the head whose transactions are looked at again after a reorganization. */
export const REORG_BLOCKS_MAX = 256
/** The longest wait of a bundler that has nothing to do, and the shortest between two looks at what is due. */
export const BUNDLER_IDLE_MS = 10_000
export const BUNDLER_PAUSE_MS = 10
/** A bundle that could not be made, or did not work, is made again after this time. */
export const BUNDLE_RETRY_MS = 1_000
/** User operations bundled in one go; the next ones follow at once. */
export const BUNDLED_MAX = 200
/** A user operation that should share its bundle goes alone when no other one has come by then. */
export const BUNDLE_COMPANY_MS = 5_000
/** Confirmations after which a send is final: more than a local chain ever reorganizes. */
export const FINAL_BLOCKS = 16
/** The `timeout` fault lets go of a client that never hangs up. */
export const HELD_REQUEST_MS_MAX = 120_000
/** How far behind lagging reads are, and of how many resources they know it. */
export const READ_LAG_MS = 2_000
export const READ_LAG_ENTRIES_MAX = 10_000
/** Ten years either way: how far the enclave's clock may be set apart. */
export const CLOCK_SKEW_MS_MAX = 10 * 366 * 24 * 60 * 60 * 1000
/** Faults that may be ordered at a time. */
export const FAULTS_MAX = 1_000_000
/** The longest an orderly stop waits for a tick and the open requests. */
export const STOP_TIMEOUT_MS = 5_000
