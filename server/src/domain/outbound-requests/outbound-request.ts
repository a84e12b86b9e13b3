import type { SentReport } from '../../lib/outbound/send-request.ts'
import type { Mode } from '../../values/mode.ts'

/** Who caused a request to another server: a workspace, its mode, and the API key or connection. */
export interface RequestSource {
  readonly workspaceId: string
  readonly mode: Mode
  readonly credentialId: string | null
}

/** A request that the service sent to a server that somebody else chose (D94). */
export interface OutboundRequestRow extends SentReport {
  /** Null for a client's metadata document, which anybody can make the service fetch. */
  readonly source: RequestSource | null
}

/**
 * At most this many rows are kept for each workspace, and for all metadata documents together; the oldest are deleted
 * first. One API key that asks for prices as fast as its rate limit allows fills them in a day.
 */
export const OUTBOUND_KEPT_MAX = 100_000
