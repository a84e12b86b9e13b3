import { closeSync, writeSync } from 'node:fs'
import type { HttpServer } from '../../../server/src/http/open-http.ts'
import { toProblem } from '../../../server/src/http/to-problem.ts'
import { openLog } from '../postgres/server-log.ts'

/** Writes what is nobody's request's fault to a file, a JSON line each, with its cause: the answer does not tell it. */
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
