import type { Mode } from '../../values/mode.ts'

/** The event types that a webhook endpoint can subscribe to (specification, part 6). */
export const EVENT_TYPES = [
  'payment.created',
  'payment.confirmed',
  'payment.failed',
  'inbound.received',
  'permission.granted',
  'permission.revoked',
  'permission.suspended',
  'permission.resumed',
] as const

/**
 * The type of a test event. It is sent only to the endpoint that a user tests, and endpoints cannot subscribe to it.
 */
export const TEST_EVENT_TYPE = 'webhook.test' as const

export type SubscribableType = (typeof EVENT_TYPES)[number]
export type EventType = SubscribableType | typeof TEST_EVENT_TYPE

/** How long after its creation an event can be read and replayed. */
export const EVENT_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000

/**
 * A change that webhooks report to other systems (D42). `data` contains the changed object in its public form, under a
 * name such as `payment`.
 */
export interface DomainEvent {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly type: EventType
  readonly createdAt: Date
  readonly data: Readonly<Record<string, unknown>>
}

/** An event as stored. `dataText` is the JSON of its data, with exactly the bytes that were first written. */
export type StoredEvent = Omit<DomainEvent, 'data'> & { readonly dataText: string }
