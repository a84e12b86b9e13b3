/** Why a request has no complete response. */
export type OutboundError =
  | 'timeout'
  | 'dns_error'
  | 'connection_refused'
  | 'connection_reset'
  | 'tls_error'
  | 'blocked_address'
  | 'invalid_response'

/** The host has no address, or no name server responded. */
export class LookupFailed extends Error {
  override readonly name = 'LookupFailed'
}

/** The policy does not allow the host's address. */
export class AddressBlocked extends Error {
  override readonly name = 'AddressBlocked'
}

/** The proxy of `HTTPS_PROXY` did not open a tunnel. */
export class ProxyFailed extends Error {
  override readonly name = 'ProxyFailed'
  readonly outcome: 'unreachable' | 'unauthorized' | 'rejected'
  /** For the log, where errors of connections have a code too. */
  readonly code: string

  constructor(outcome: ProxyFailed['outcome'], reason: string, options?: ErrorOptions) {
    super(`the proxy opened no tunnel: ${reason}`, options)
    this.outcome = outcome
    this.code = `PROXY_${outcome.toUpperCase()}`
  }
}

/**
 * Error codes that mean that no connection was made. They include problems of our own machine, such as no free port or
 * file descriptor.
 */
const UNREACHED_CODES = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
]
const RESET_CODES = ['ECONNRESET', 'ECONNABORTED', 'EPIPE']

/** Returns the kind of an error that ended a request, before or after the headers of the response arrived. */
export function nameError(thrown: unknown, url: URL): OutboundError {
  if (thrown instanceof AddressBlocked) return 'blocked_address'
  if (thrown instanceof LookupFailed) return 'dns_error'
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  if (thrown instanceof ProxyFailed || UNREACHED_CODES.includes(code)) return 'connection_refused'
  if (isReset(thrown)) return 'connection_reset'
  if (code === 'ETIMEDOUT') return 'timeout'
  // `HPE_` marks errors of Node's HTTP parser. With https, every other error comes from the TLS handshake, which has
  // many codes.
  return code.startsWith('HPE_') || url.protocol !== 'https:' ? 'invalid_response' : 'tls_error'
}

export function isReset(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && RESET_CODES.includes(String(thrown.code))
}
