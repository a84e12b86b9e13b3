import type { LookupAddress } from 'node:dns'

/** Resolves a host name to all of its addresses. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>

/** Which addresses may be called, when a URL was chosen by a user. */
export interface OutboundPolicy {
  /** Allows loopback, also over plain http. Used by the sandbox. */
  readonly allowLoopback: boolean
  /** Our own origins. They are not allowed, because a webhook to ourselves would be a loop. */
  readonly ownOrigins: readonly string[]
  /** Replaces the resolver, for tests of what a name can resolve to. */
  readonly resolve?: ResolveHost
}
