/** The limits of one request. */
export const BODY_BYTES_MAX = 64 * 1_024
export const HEADER_BYTES_MAX = 16 * 1_024
/** The whole request must arrive within this time. */
export const REQUEST_TIMEOUT_MS = 30_000
export const HEADERS_TIMEOUT_MS = 15_000
/** How often connections are checked for requests that take too long. */
export const CONNECTIONS_CHECK_MS = 5_000
/** How many requests of one connection may wait for the responses to earlier ones. */
export const PIPELINED_MAX = 16
/** A client that reads nothing of its response for this time is disconnected, at the latest after twice this time. */
export const DRAINING_STALL_MS = 30_000
/** After the response to a request that is not valid HTTP, a connection is kept open only this long. */
export const REJECTED_CLOSE_MS = 1_000
export const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** While the service stops, a connection is kept open only this long after a response. */
export const KEEP_ALIVE_STOPPING_MS = 1
/**
 * The longest parameter is a passkey's id: 1,023 bytes in base64url. An agent's id (64 code points, percent-encoded) is
 * shorter.
 */
export const PATH_PARAMETER_CHARS_MAX = 1_364
export const CONNECTIONS_MAX = 10_000
/**
 * How many completed connections the operating system keeps until the process accepts them. If a burst is larger,
 * clients wait a second or more before they try again. The operating system may have a lower limit.
 */
export const CONNECTIONS_WAITING_MAX = 4_096
/** The `Retry-After` of a 503 response, which is sent when the database or a chain cannot be reached. */
export const UNAVAILABLE_RETRY_AFTER_SECONDS = 2
export const STRICT_TRANSPORT_SECONDS = 2 * 365 * 24 * 60 * 60
