/** Delay between two checks of a server that starts or stops. */
export const PROCESS_POLL_MS = 10

/** A cold start on a slow disk replays at most max_wal_size of log. */
export const START_TIMEOUT_MS = 60_000

/**
 * The old backends of a killed postmaster hold its lock until they notice, in under 100 ms when measured, so this is
 * generous.
 */
export const LOCK_RETRY_DELAY_MS = 50
export const LOCK_RETRIES_MAX = 200

/** `initdb` takes under a second here; a laptop on battery with a virus scanner may need a minute. */
export const INITDB_TIMEOUT_MS = 120_000

/** A fast shutdown writes one checkpoint. After this time the server is told to quit without one. */
export const FAST_STOP_TIMEOUT_MS = 10_000
export const QUIT_TIMEOUT_MS = 5_000

/** At a start, a server log larger than this is moved aside. One older log is kept. */
export const LOG_BYTES_MAX = 1_048_576

/** How much of the log's end is read to explain a failed start. */
export const LOG_TAIL_BYTES = 4_096

/** Random bytes in the superuser's password. */
export const PASSWORD_BYTES = 24
