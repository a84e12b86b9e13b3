import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createClock } from '../../../server/src/lib/clock.ts'
import { openOutbound } from '../../../server/src/lib/outbound/open-outbound.ts'
import type { Agents } from '../../../server/src/lib/outbound/agents.ts'
import type { OutboundPolicy } from '../../../server/src/lib/outbound/policy.ts'
import { postJson, type OutboundOutcome, type OutboundRequest } from '../../../server/src/lib/outbound/post-json.ts'

export interface Poster {
  post(url: string, changes?: Partial<OutboundRequest>): Promise<OutboundOutcome>
  /** The poster's connections. */
  readonly agents: Agents
  close(): void
}

/** Longer than a busy machine needs to respond to itself. */
const TIMEOUT_MS = 20_000
const RESPONSE_BYTES_MAX = 16 * 1024

/** Opens a poster that treats loopback as an outside network. */
export function openPoster(policy: Partial<OutboundPolicy> = {}): Poster {
  const outbound = openOutbound({ policy: { allowLoopback: true, ownOrigins: [], ...policy }, clock: createClock() })
  const base = { headers: {}, body: Buffer.from('{}'), timeoutMs: TIMEOUT_MS, responseBytesMax: RESPONSE_BYTES_MAX }
  return {
    post: (url, changes = {}) => postJson(outbound, { ...base, url, ...changes }),
    agents: outbound.agents,
    close: () => outbound.close(),
  }
}

/**
 * Posts from a process with this environment, and returns the outcome as `status error`. `trusted` is an additional
 * certificate authority.
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
