import { isUtf8 } from 'node:buffer'
import { InvalidRequest } from './oauth-error.ts'

/**
 * The parameters of a request by name, with their values in order. Empty values are left out, but their names are kept.
 */
export type RequestParameters = ReadonlyMap<string, readonly string[]>

/** The only parameter that may be sent more than once (RFC 8707, section 2). */
const REPEATABLE: readonly string[] = ['resource']
// oxlint-disable-next-line no-control-regex -- The pattern must match control characters.
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/
const MALFORMED = 'The parameters must be application/x-www-form-urlencoded, in UTF-8 and without control characters.'

/**
 * Parses the raw bytes of a query or a form. Other parsers would silently repair, merge or drop invalid parts. A
 * parameter with an empty value counts as missing (OAuth 2.1, section 3.1). Throws `invalid_request` for invalid
 * percent-encoding, invalid UTF-8, and control characters.
 */
export function parseParameters(bytes: Buffer): RequestParameters {
  if (!isUtf8(bytes)) throw new InvalidRequest(MALFORMED)
  const parameters = new Map<string, string[]>()
  for (const pair of bytes.toString('utf8').split('&')) {
    if (pair === '') continue
    const [encodedName = '', ...rest] = pair.split('=')
    const [name, value] = [decode(encodedName), decode(rest.join('='))]
    const values = parameters.get(name) ?? []
    if (value !== '') values.push(value)
    parameters.set(name, values)
  }
  return parameters
}

/** Throws `invalid_request` if a parameter appears more than once (OAuth 2.1, sections 3.1 and 3.2). */
export function checkNoRepetition(parameters: RequestParameters): void {
  for (const [name, values] of parameters) {
    if (values.length > 1 && !REPEATABLE.includes(name)) throw repeated(name)
  }
}

/** Returns the value, or null if there is none. Throws `invalid_request` if there are several. */
export function findParameter(parameters: RequestParameters, name: string): string | null {
  const values = listParameter(parameters, name)
  if (values.length > 1) throw repeated(name)
  return values[0] ?? null
}

/** Returns the value. Throws `invalid_request` if there is none, or several. */
export function getParameter(parameters: RequestParameters, name: string): string {
  const value = findParameter(parameters, name)
  if (value === null) throw InvalidRequest.missing(name)
  return value
}

export function listParameter(parameters: RequestParameters, name: string): readonly string[] {
  return parameters.get(name) ?? []
}

function decode(text: string): string {
  const decoded = decodePercent(text.replaceAll('+', ' '))
  if (decoded === null || CONTROL_CHARACTER.test(decoded)) throw new InvalidRequest(MALFORMED)
  return decoded
}

/** Decodes percent-encoding. Returns null if the encoding is invalid, or if the decoded bytes are not UTF-8. */
function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function repeated(name: string): InvalidRequest {
  return new InvalidRequest(`${name} must not appear more than once.`, { parameter: name })
}
