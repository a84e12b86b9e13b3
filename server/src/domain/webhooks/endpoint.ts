import type { Mode } from '../../values/mode.ts'
import type { SubscribableType } from '../events/event.ts'

/** Why nothing is sent any more: its owner said so, it answered 410, or it has failed for `FAILING_MS` on end. */
export const DISABLED_CAUSES = ['owner', 'gone', 'failing'] as const
export type DisabledBecause = (typeof DISABLED_CAUSES)[number]

/** Where a workspace wants its events of one mode; never with its secret. */
export interface WebhookEndpoint {
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly url: string
  readonly events: readonly SubscribableType[]
  readonly createdAt: Date
  /** Since when every finished attempt has failed; null after a success. */
  readonly failingSince: Date | null
  readonly disabledAt: Date | null
  readonly disabledBecause: DisabledBecause | null
}

/** An endpoint with the secret that its deliveries are signed with, which is shown this once. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint
  readonly secret: string
}

/** For each (account, mode). */
export const ENDPOINTS_MAX = 20
export const URL_CHARS_MAX = 2_048
/** How long a rotated secret goes on signing beside the new one. */
export const ROTATION_OVERLAP_MS = 24 * 60 * 60 * 1_000
/** An endpoint that has only failed for so long is disabled (D45). */
export const FAILING_MS = 5 * 24 * 60 * 60 * 1_000
/** An endpoint hangs whose last attempt took so long, or ran out of time. One that answers sooner no longer hangs. */
export const HANGING_MS = 5_000

/** Binds a sealed secret to its endpoint: moved to another row it does not open. */
export function secretSealContext(accountId: string, endpointId: string): string {
  return JSON.stringify(['webhook secret', accountId, endpointId])
}
