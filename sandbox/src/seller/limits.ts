/** The control API can create at most this many resources. They are kept in memory until the seller stops. */
export const RESOURCES_MAX = 10_000
/** The largest body of a request to a resource. The standard goods contain a copy of the request's body. */
export const REQUEST_BYTES_MAX = 100_000
/** The longest time for which a fault delays a settlement or an answer. */
export const DELAY_MS_MAX = 120_000
export const ANSWER_BYTES_MAX = 100_000_000
/** How long the seller waits for its facilitator, as the x402 packages do by default. */
export const FACILITATOR_MS_MAX = 90_000
/** How long the seller waits for a settlement with the fault `settle_late`. Short, so that tests are short. */
export const SHORT_FACILITATOR_MS_MAX = 3_000
/** How often the facilitator looks for the receipt of its transaction. */
export const RECEIPT_POLL_MS = 100
/** How long the facilitator waits for the receipt of its transaction. */
export const RECEIPT_MS_MAX = 60_000
/** How long open requests may take after the seller was asked to stop. */
export const STOP_MS_MAX = 2_000
/** In how many pieces the fault `answer_dripped` sends a body. */
export const ANSWER_PIECES = 10
