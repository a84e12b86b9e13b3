/**
 * Headers that an agent may not send through us (D69): they belong to the connection (RFC 9110, section 7.6.1) or to
 * proxies, carry cookies, or pay.
 */
const DROPPED_NAMES = [
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]
const DROPPED_NAME_PATTERN = /^(?:x-payment|payment-|proxy-|forwarded|x-forwarded|x-real-ip)/
/** Matches the value of an `authorization` header that pays, because it contains a credential of MPP. */
const PAYMENT_CREDENTIAL_PATTERN = /(?:^|,)\s*payment\s/i

/** Headers of the caller that hold no secret. Only these are sent to a server that the caller did not name (D69). */
const HARMLESS_NAMES = ['accept', 'accept-language', 'accept-payment', 'content-type', 'user-agent']

/** Returns the headers of a caller that are sent to another origin than the one that the caller named. */
export function keepHarmlessHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS_NAMES.includes(name)))
}

/** Returns the headers that are sent to a resource, with their names in lower case. */
export function dropHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const all = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const ofConnection = all.flatMap(([name, value]) => (name === 'connection' ? value.toLowerCase().split(',') : []))
  const dropped = [...DROPPED_NAMES, ...ofConnection.map((name) => name.trim())]
  return Object.fromEntries(
    all.filter(([name, value]) => {
      if (dropped.includes(name) || DROPPED_NAME_PATTERN.test(name)) return false
      return name !== 'authorization' || !PAYMENT_CREDENTIAL_PATTERN.test(value)
    }),
  )
}
