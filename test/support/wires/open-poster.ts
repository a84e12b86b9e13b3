import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createClock } from '../../../server/src/lib/clock.ts'
import { openOutbound } from '../../../server/src/lib/outbound/open-outbound.ts'
import type { Agents } from '../../../server/src/lib/outbound/agents.ts'
import type { OutboundPolicy } from '../../../server/src/lib/outbound/policy.ts'
import { postJson, type OutboundOutcome, type OutboundRequest } from '../../../server/src/lib/outbound/post-json.ts'

export interface Poster {
  post(url: string, changes?: Partial<OutboundRequest>): Promise<OutboundOutcome>
  /** The HTTP agents that contain the poster's connections. */
  readonly agents: Agents
  close(): void
}

/** The time limit of a request. A response from the same machine arrives sooner, even if the machine is busy. */
const TIMEOUT_MS = 20_000
const RESPONSE_BYTES_MAX = 16 * 1024

/** Opens the service's poster of webhooks. Unlike in production, it may post to loopback addresses. */
export function openPoster(policy: Partial<OutboundPolicy> = {}): Poster {
  const rules = { allowLoopback: true, ownOrigins: [], contact: 'https://pay.example.com', ...policy }
  const outbound = openOutbound({ policy: rules, clock: createClock() })
  const limits = { timeoutMs: TIMEOUT_MS, responseBytesMax: RESPONSE_BYTES_MAX }
  const base = { headers: {}, body: Buffer.from('{}'), connectionsOf: 'acc_poster', ...limits }
  return {
    post: (url, changes = {}) => postJson(outbound, { ...base, url, ...changes }),
    agents: outbound.agents,
    close: () => outbound.close(),
  }
}

/**
 * Posts a webhook from a child process with the given environment. Returns the outcome as `status error`. `trusted` is
 * a certificate authority that the process trusts in addition.
 */
export async function postFromChild(url: string, environment: NodeJS.ProcessEnv, trusted = ''): Promise<string> {
  const program = `
    import { setDefaultCACertificates } from 'node:tls'
    import { openPoster } from ${JSON.stringify(import.meta.url)}
    const [url, trusted] = ${JSON.stringify([url, trusted])}
    if (trusted !== '') setDefaultCACertificates([trusted])
    const poster = openPoster()
    const { statusCode, error } = await poster.post(url)
    process.stdout.write(statusCode + ' ' + error)
    poster.close()`
  const args = ['--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...environment } })
  return stdout
}
