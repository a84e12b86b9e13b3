/** The limits of texts that people write. The forms of the dashboard have the same limits. */
export const NAME_CHARS_MAX = 100
export const AGENT_ID_CODE_POINTS_MAX = 64
/** What a member writes about a purchase that was paid and not delivered. */
export const RESOLUTION_CHARS_MAX = 200

/** What people write about a payment. */
export const NOTE_CODE_POINTS_MAX = 1_000
export const CATEGORY_CODE_POINTS_MAX = 60

/** A wallet has at most this many slots. So at most this many agents can have a grant on it. */
export const WALLET_SLOTS_MAX = 50

/** The longest URL that the database stores, in its percent-encoded form. */
export const URL_CHARS_MAX = 2_048
