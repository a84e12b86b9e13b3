import type { FastifyRequest } from 'fastify'
import { readArrivedBody } from '../http/arriving-bodies.ts'
import type { HttpServer } from '../http/open-http.ts'
import { InvalidRequest } from './oauth-error.ts'
import { parseParameters, type RequestParameters } from './parameters.ts'
import { FORM } from './to-oauth-error.ts'

/** Makes the endpoints of this scope accept only URL-encoded forms (RFC 6749, appendix B). */
export function acceptFormsOnly(scope: HttpServer): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(FORM.contentType, async (request: FastifyRequest) =>
    parseParameters(readArrivedBody(request)),
  )
}

/**
 * Returns the form in the request's body. Throws `invalid_request` if there is none. Parameters in the query are
 * ignored.
 */
export function readForm(body: unknown): RequestParameters {
  if (body instanceof Map) return body
  throw new InvalidRequest(`Send the parameters in the request body, as ${FORM.contentType}.`)
}
