import { isUtf8 } from 'node:buffer'
import { InvalidRequest } from './oauth-error.ts'

/** The parameters of a request by name, each with its values in order. Empty values are left out, their names are not. */
export type RequestParameters = ReadonlyMap<string, readonly string[]>

/** RFC 8707, section 2: the one parameter that may be sent more than once. */
const REPEATABLE: readonly string[] = ['resource']
// oxlint-disable-next-line no-control-regex -- Control characters are what it looks for.
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/
const MALFORMED = 'The parameters must be application/x-www-form-urlencoded, in UTF-8 and without control characters.'

/**
 * Parses a query or a form as it came, so that nothing has been repaired, merged or dropped before. A parameter with an
 * empty value counts as left out (OAuth 2.1, section 3.1). Throws `invalid_request` for a broken percent-encoding, for
 * what is not UTF-8, and for control characters.
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

/** Throws `invalid_request` when a parameter is there more than once (OAuth 2.1, sections 3.1 and 3.2). */
export function checkNoRepetition(parameters: RequestParameters): void {
  for (const [name, values] of parameters) {
    if (values.length > 1 && !REPEATABLE.includes(name)) throw repeated(name)
  }
}

/** The value, or null when there is none. Throws `invalid_request` when there are several. */
export function findParameter(parameters: RequestParameters, name: string): string | null {
  const values = listParameter(parameters, name)
  if (values.length > 1) throw repeated(name)
  return values[0] ?? null
}

/** The value. Throws `invalid_request` when there is none, or several. */
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

/** Null for a broken escape, and for one that is not UTF-8. */
function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function repeated(name: string): InvalidRequest {
  return new InvalidRequest(`The parameter ${name} is there more than once.`, { parameter: name })
}
