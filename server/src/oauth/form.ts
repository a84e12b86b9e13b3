import type { HttpServer } from '../http/open-http.ts'
import { InvalidRequest } from './oauth-error.ts'
import { parseParameters, type RequestParameters } from './parameters.ts'
import { FORM } from './to-oauth-error.ts'

/** The one way in which these endpoints take a body (RFC 6749, appendix B). */
export function acceptFormsOnly(scope: HttpServer): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(FORM.contentType, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    parseParameters(body),
  )
}

/** The form that came. Throws `invalid_request` when none did: parameters in the query are not looked at. */
export function readForm(body: unknown): RequestParameters {
  if (body instanceof Map) return body
  throw new InvalidRequest(`Send the parameters in the body, as ${FORM.contentType}.`)
}
