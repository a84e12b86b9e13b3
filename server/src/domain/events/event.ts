import type { Mode } from '../../values/mode.ts'

/** The event types that a webhook endpoint can subscribe to (specification, part 6). */
export const EVENT_TYPES = [
  'payment.created',
  'payment.confirmed',
  'payment.failed',
  'inbound.received',
  'permission.granted',
  'permission.revoked',
] as const

/** Sent only to the endpoint that it was requested for. Endpoints cannot subscribe to it. */
export const TEST_EVENT_TYPE = 'webhook.test'

export type SubscribableType = (typeof EVENT_TYPES)[number]
export type EventType = SubscribableType | typeof TEST_EVENT_TYPE

/** How long an event can be read and replayed. */
export const EVENT_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000

/**
 * A change that other systems can be notified of (D42). `data` is the public representation of its subject, under the
 * subject's name.
 */
export interface DomainEvent {
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly type: EventType
  readonly createdAt: Date
  readonly data: Readonly<Record<string, unknown>>
}

/** An event as stored. `dataText` is the JSON of its data, byte for byte as first written. */
export type StoredEvent = Omit<DomainEvent, 'data'> & { readonly dataText: string }
