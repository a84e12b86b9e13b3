/** These lifetimes are set by the specification (part 5). */
export const CODE_LIFETIME_MS = 60 * 1_000
export const ACCESS_TOKEN_LIFETIME_SECONDS = 60 * 60
/**
 * Each refresh issues a new refresh token with this lifetime, so a connection that is used at least once in 30 days
 * does not expire.
 */
export const REFRESH_TOKEN_LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000
/**
 * How long after a rotation another request with the same refresh token counts as the same use, and how long the new
 * tokens are held back (D38a). So a client that has received them can no longer be part of that use.
 */
export const SAME_USE_MS = 100
/** A request that arrived this long before the rotation is not the same use. No request waits longer than this. */
export const WAIT_MS_MAX = 10_000
/** How long a user has to sign in or sign up and to decide on an authorization request. */
export const REQUEST_LIFETIME_MS = 10 * 60 * 1_000

/** A code stops working after this many exchanges with a wrong verifier, client or redirect URI (D38). */
export const CODE_FAILURES_MAX = 5
/** How long an expired code is kept, so that a second use of it is still detected. */
export const CODE_RETENTION_MS = 24 * 60 * 60 * 1_000
/** How long a connection whose code was never exchanged is kept after the code expired. */
export const UNUSED_CONNECTION_RETENTION_MS = 24 * 60 * 60 * 1_000
/**
 * How long a client is kept if no user ever decided on any of its requests. Anybody may register clients, so unused
 * clients must be deleted.
 */
export const UNUSED_CLIENT_RETENTION_MS = 7 * 24 * 60 * 60 * 1_000

/** How long a copy of a client's document may still be used if the document cannot be read again (D73). */
export const STALE_DOCUMENT_MAX_MS = 7 * 24 * 60 * 60 * 1_000

/** A clean-up run deletes at most this many rows of one table, so that it holds no lock for long. */
export const CLEAN_UP_ROWS_MAX = 10_000
/** A list shows at most this many connections, the newest ones. */
export const CONNECTIONS_LISTED_MAX = 1_000
