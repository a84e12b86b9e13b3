import type { LookupAddress } from 'node:dns'

/** Resolves a host name to all of its addresses. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>

/** Where requests that others have asked for may go. */
export interface OutboundPolicy {
  /** Loopback over plain http too: for the sandbox. */
  readonly allowLoopback: boolean
  /** Our own origins: a webhook to ourselves would be a loop. */
  readonly ownOrigins: readonly string[]
  /** Another resolver than the system's, for tests of what a name may resolve to. */
  readonly resolve?: ResolveHost
}
