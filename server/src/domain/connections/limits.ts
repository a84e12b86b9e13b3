/** Lifetimes, given by the specification (part 5). */
export const CODE_LIFETIME_MS = 60 * 1_000
export const ACCESS_TOKEN_LIFETIME_SECONDS = 60 * 60
/** Starts again at each rotation, so a connection that is used now and then stays alive. */
export const REFRESH_TOKEN_LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000
/** How long a user has to sign in or sign up, and decide. */
export const REQUEST_LIFETIME_MS = 10 * 60 * 1_000

/** A code stops working after this many exchanges with a wrong verifier, client or redirect URI (D38). */
export const CODE_FAILURES_MAX = 5
/** How long after a code expired a second use of it is still detected. */
export const CODE_RETENTION_MS = 24 * 60 * 60 * 1_000
/** How long a connection whose code was never exchanged is kept after the code expired. */
export const UNUSED_CONNECTION_RETENTION_MS = 24 * 60 * 60 * 1_000
/** How long a client that no user ever decided on is kept. Anybody may register clients, so they must not pile up. */
export const UNUSED_CLIENT_RETENTION_MS = 7 * 24 * 60 * 60 * 1_000

/** How many rows of one table a clean-up run deletes at most, so that no lock is held for long. */
export const CLEAN_UP_ROWS_MAX = 10_000
/** A list shows at most this many connections, the newest ones. */
export const CONNECTIONS_LISTED_MAX = 1_000
