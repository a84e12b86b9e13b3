import type { Mode } from '../../values/mode.ts'
import type { SubscribableType } from '../events/event.ts'

/**
 * Why an endpoint is disabled: a member of the workspace disabled it (`owner`), it responded with 410 (`gone`), or it
 * has failed for `FAILING_MS` without a success (`failing`).
 */
export const DISABLED_CAUSES = ['owner', 'gone', 'failing'] as const
export type DisabledBecause = (typeof DISABLED_CAUSES)[number]

/** A URL at which a workspace receives its events, in one mode. This type never contains the endpoint's secret. */
export interface WebhookEndpoint {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly url: string
  readonly events: readonly SubscribableType[]
  readonly createdAt: Date
  /** The time since which every finished attempt has failed. Null after a success. */
  readonly failingSince: Date | null
  readonly disabledAt: Date | null
  readonly disabledBecause: DisabledBecause | null
}

/** An endpoint with the secret that signs its deliveries. The secret is shown only when it is created. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint
  readonly secret: string
}

/** How many endpoints a workspace may have in each mode. */
export const ENDPOINTS_MAX = 20
/** For this long after a secret is replaced, deliveries are signed with the previous secret as well. */
export const ROTATION_OVERLAP_MS = 24 * 60 * 60 * 1_000
/** An endpoint that has failed for this long without a success is disabled (D45). */
export const FAILING_MS = 5 * 24 * 60 * 60 * 1_000
/**
 * An endpoint counts as hanging if its last attempt took at least this long or timed out. It stops counting as hanging
 * as soon as it responds faster.
 */
export const HANGING_MS = 5_000

/**
 * Returns the context that binds an encrypted secret to its endpoint, so that the secret cannot be decrypted from
 * another endpoint's row.
 */
export function secretSealContext(workspaceId: string, endpointId: string): string {
  return JSON.stringify(['webhook secret', workspaceId, endpointId])
}
