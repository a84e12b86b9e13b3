import type { Mode } from './wire.ts'

/** What developers see: keys, webhooks, deliveries, events. As in wire.ts. */

export interface ApiKey {
  readonly id: string
  readonly mode: Mode
  readonly name: string
  readonly created_at: string
  /** Null: whoever runs the service. */
  readonly created_by: string | null
  /** After a rotation: until when the old key still authenticates. */
  readonly grace_until: string | null
  readonly revoked_at: string | null
  readonly state: 'active' | 'rotated' | 'revoked' | 'expired'
  readonly last_used_at: string | null
}

/** With its secret, which is told once. */
export interface IssuedApiKey {
  readonly key: ApiKey
  readonly secret: string
  /** After a rotation: until when the old key still authenticates. */
  readonly grace_until?: string
}

export interface Webhook {
  readonly id: string
  readonly mode: Mode
  readonly url: string
  readonly events: readonly string[]
  readonly status: 'enabled' | 'disabled'
  readonly disabled_because: 'owner' | 'gone' | 'failing' | null
  readonly failing_since: string | null
  readonly created_at: string
}

/** With the signing secret, which is told once. */
export interface IssuedWebhook extends Webhook {
  readonly secret: string
}

export interface Delivery {
  readonly id: string
  readonly mode: Mode
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  readonly trigger: 'event' | 'replay' | 'test'
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled'
  readonly attempt_count: number
  readonly next_attempt_at: string | null
  readonly created_at: string
  readonly finished_at: string | null
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[]
  readonly next: string | null
}

export interface DeliveryDetail {
  readonly delivery: Delivery
  readonly attempts: readonly DeliveryAttempt[]
  /** The request's body as it was sent, byte for byte; null once its event is older than 30 days. */
  readonly body: string | null
}

export interface DeliveryAttempt {
  readonly number: number
  readonly at: string
  readonly status_code: number | null
  readonly error: string | null
  readonly duration_ms: number
  readonly response_body: string | null
}

/** An event's envelope (of `GET /v1/events`). */
export interface EventEnvelope {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly mode: Mode
  readonly account_slug: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface EventPage {
  readonly events: readonly EventEnvelope[]
  readonly next: string | null
}

export interface EventDetail {
  /** The envelope as JSON, byte for byte as receivers get it. */
  readonly body: string
  readonly event: EventEnvelope
  readonly deliveries: readonly Delivery[]
}
