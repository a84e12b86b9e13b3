import type { HttpServer } from '../../../server/src/http/open-http.ts'
import { Problem } from '../../../server/src/values/problem.ts'

/** Some routes take no body, and many clients say `application/json` all the same. */
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
