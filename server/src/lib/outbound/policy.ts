import type { LookupAddress } from 'node:dns'
import type { EgressProxy } from './egress-proxy.ts'

/** Resolves a host name to all of its addresses. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>

/** How requests are sent to URLs that users have chosen. */
export interface OutboundRules extends OutboundPolicy {
  /** Whom the operators of other servers can contact about our requests: a URL or an e-mail address (D94). */
  readonly contact: string
}

/** Which addresses may be called if a user has chosen the URL. */
export interface OutboundPolicy {
  /** Allows loopback, also over plain http. Used by the sandbox. */
  readonly allowLoopback: boolean
  /** Our own origins. They are not allowed, because a request to ourselves could cause a loop. */
  readonly ownOrigins: readonly string[]
  /** Through which https requests are sent; null or missing if they are sent directly. */
  readonly proxy?: EgressProxy | null
  /** Replaces the DNS resolver, in tests. */
  readonly resolve?: ResolveHost
}
