/** Lifetimes (specification, part 5). */
export const CODE_LIFETIME_MS = 60 * 1_000
export const ACCESS_TOKEN_LIFETIME_SECONDS = 60 * 60
/** From each rotation anew: a connection that is used once in a while lives on. */
export const REFRESH_TOKEN_LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000
/** A person has so long to sign in, or to sign up, and decide. */
export const REQUEST_LIFETIME_MS = 10 * 60 * 1_000

/** So many exchanges with a wrong verifier, client or redirect URI end a code (D38). */
export const CODE_FAILURES_MAX = 5
/** How long after its end a second use of a code is still recognized. */
export const CODE_RETENTION_MS = 24 * 60 * 60 * 1_000
/** A connection whose code was never exchanged is forgotten so long after the code's end. */
export const UNUSED_CONNECTION_RETENTION_MS = 24 * 60 * 60 * 1_000
/** Anybody may register a client; one that nobody ever decided on is forgotten after this. */
export const UNUSED_CLIENT_RETENTION_MS = 7 * 24 * 60 * 60 * 1_000

/** Rows of one table that one run of the cleaning deletes, so that no lock is held for long. */
export const CLEAN_UP_ROWS_MAX = 10_000
/** The newest ones are listed. */
export const CONNECTIONS_LISTED_MAX = 1_000
