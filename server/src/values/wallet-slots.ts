/** A wallet has at most this many slots. So at most this many agents can have a grant on it. */
export const WALLET_SLOTS_MAX = 50
