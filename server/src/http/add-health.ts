import type { HttpServer } from './open-http.ts'

/** Resolves if a part of the service can be reached, and throws if it cannot. */
export type Check = () => Promise<unknown>

const CHECK_MS_MAX = 2_000
/** Anyone can call the health endpoints, so each part of the service is checked at most once in this time. */
const OUTCOME_AGE_MS_MAX = 1_000

type Outcome = 'ok' | 'unavailable'

/**
 * Adds `/healthz`, which responds while the process is alive, and `/readyz`, which responds with 200 while the database
 * can be reached. The other parts are listed but do not change the status, because reads work without them.
 */
export function addHealth(http: HttpServer, checks: { database: Check } & Record<string, Check>): void {
  let outcomes: Promise<Record<string, Outcome>> | null = null

  const checkAll = async (): Promise<Record<string, Outcome>> => {
    const entries = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await outcomeOf(check)] as const),
    )
    setTimeout(() => {
      outcomes = null
    }, OUTCOME_AGE_MS_MAX).unref()
    return Object.fromEntries(entries)
  }

  http.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }))
  http.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    outcomes ??= checkAll()
    const parts = await outcomes
    const ready = parts['database'] === 'ok'
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'unavailable', checks: parts })
  })
}

async function outcomeOf(check: Check): Promise<Outcome> {
  const late = AbortSignal.timeout(CHECK_MS_MAX)
  const timeout = new Promise<never>((_resolve, reject) => {
    late.addEventListener('abort', () => reject(new Error('too late')), { once: true })
  })
  try {
    await Promise.race([check(), timeout])
    return 'ok'
  } catch {
    return 'unavailable'
  }
}
