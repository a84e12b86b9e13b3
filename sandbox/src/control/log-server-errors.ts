import { closeSync, writeSync } from 'node:fs'
import type { HttpServer } from '../../../server/src/http/open-http.ts'
import { toProblem } from '../../../server/src/http/to-problem.ts'
import { openLog } from '../lib/program-log.ts'

/**
 * Writes each error with a status of 500 or above to a file, as one line of JSON. The line includes the cause, which
 * the response does not contain.
 */
export function logServerErrors(http: HttpServer, file: string): void {
  const log = openLog(file)
  http.addHook('onError', async (request, _reply, error) => {
    if (toProblem(error).status < 500) return
    const { stack, cause } = error
    const line = { request: request.id, route: request.routeOptions.url, stack, cause: describeCause(cause) }
    writeSync(log, `${JSON.stringify(line)}\n`)
  })
  http.addHook('onClose', async () => closeSync(log))
}

function describeCause(cause: unknown): unknown {
  return cause instanceof Error ? { stack: cause.stack, cause: describeCause(cause.cause) } : cause
}
