import type { FastifyReply } from 'fastify'
import type { HttpServer } from './open-http.ts'

/**
 * Returns a function that creates the abort signal of one request. The signal is aborted when the connection is closed
 * before the response was sent, and when the service stops. A request that waits must end when the service stops,
 * because the stop waits for the responses to all requests.
 */
export function createRequestSignals(http: HttpServer): (reply: FastifyReply) => AbortSignal {
  const open = new Set<AbortController>()
  let isStopping = false
  http.addHook('preClose', async () => {
    isStopping = true
    for (const controller of open) controller.abort()
  })
  return (reply) => {
    const controller = new AbortController()
    if (isStopping || reply.raw.destroyed) controller.abort()
    open.add(controller)
    reply.raw.once('close', () => {
      open.delete(controller)
      // If the response was sent, nothing waits for the signal. An abort would only create an error and its stack.
      if (!reply.raw.writableFinished) controller.abort()
    })
    return controller.signal
  }
}
