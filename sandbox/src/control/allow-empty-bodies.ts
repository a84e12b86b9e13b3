import type { HttpServer } from '../../../server/src/http/open-http.ts'
import { Problem } from '../../../server/src/values/problem.ts'

/**
 * Accepts an empty body with the content type `application/json`, because some routes take no body and many clients
 * send the header anyway.
 */
export function allowEmptyBodies(http: HttpServer): void {
  http.removeContentTypeParser('application/json')
  http.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)))
    } catch (cause) {
      done(new Problem('validation_failed', 'The body is not valid JSON.', { cause }))
    }
  })
}
