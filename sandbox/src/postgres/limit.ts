/**
 * The time limit of a start. After a crash, PostgreSQL first replays its log, up to max_wal_size, which can be slow on
 * a slow disk.
 */
export const START_TIMEOUT_MS = 60_000

/**
 * How often and how long to wait for the lock of a killed server. Its backend processes keep the lock until they notice
 * that the server is gone. We measured less than 100 ms, so this is generous.
 */
export const LOCK_RETRY_DELAY_MS = 50
export const LOCK_RETRIES_MAX = 200

/**
 * The time limit of `initdb`. It takes less than a second here. A laptop on battery with a virus scanner may need a
 * minute.
 */
export const INITDB_TIMEOUT_MS = 120_000

/**
 * The time limit of a fast shutdown, which writes one checkpoint. After this time, we stop the server without a
 * checkpoint.
 */
export const FAST_STOP_TIMEOUT_MS = 10_000
export const QUIT_TIMEOUT_MS = 5_000

/** The number of random bytes in the superuser's password. */
export const PASSWORD_BYTES = 24
