import type { HttpServer } from './open-http.ts'

/** Resolves if a part of the service can be reached, and throws if it cannot. */
export type Check = () => Promise<unknown>

const CHECK_MS_MAX = 2_000
/** Anyone can call the health endpoints, so each part of the service is checked at most once in this time. */
const OUTCOME_AGE_MS_MAX = 1_000

type Outcome = 'ok' | 'unavailable'

export interface HealthChecks {
  /** What a process needs to serve requests. */
  readonly needed: Readonly<Record<string, Check>>
  /** What other processes could not reach either. Without it, a process still serves what it can. */
  readonly outside?: Readonly<Record<string, Check>>
}

/**
 * Adds `/healthz`, which responds while the process runs, and `/readyz`, which responds with 200 while the process can
 * serve requests (D77): it has all that it needs, and it is not about to stop. Everything else is listed, but takes no
 * process out of service.
 */
export function addHealth(http: HttpServer, { needed, outside = {} }: HealthChecks): void {
  let outcomes: Promise<Record<string, Outcome>> | null = null

  const checkAll = async (): Promise<Record<string, Outcome>> => {
    const entries = await Promise.all(
      Object.entries({ ...needed, ...outside }).map(async ([name, check]) => [name, await outcomeOf(check)] as const),
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
    const status = decideStatus(parts)
    return reply.code(status === 'ok' || status === 'degraded' ? 200 : 503).send({ status, checks: parts })
  })

  function decideStatus(parts: Readonly<Record<string, Outcome>>): 'ok' | 'degraded' | 'unavailable' | 'stopping' {
    if (http.shutdown.hasBegun) return 'stopping'
    if (Object.keys(needed).some((name) => parts[name] !== 'ok')) return 'unavailable'
    return Object.values(parts).every((outcome) => outcome === 'ok') ? 'ok' : 'degraded'
  }
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
