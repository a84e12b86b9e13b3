import type { Mode } from '../../values/mode.ts'

/** The kinds of event that an endpoint can be told of (specification, part 6). */
export const EVENT_TYPES = [
  'payment.created',
  'payment.confirmed',
  'payment.failed',
  'inbound.received',
  'permission.granted',
  'permission.revoked',
] as const

/** Goes to the one endpoint that it was asked for; nobody can subscribe to it. */
export const TEST_EVENT_TYPE = 'webhook.test'

export type SubscribableType = (typeof EVENT_TYPES)[number]
export type EventType = SubscribableType | typeof TEST_EVENT_TYPE

/** How long an event can be read, and be sent again. */
export const EVENT_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000

/** What became true (D42). `data` is the wire shape of its subject, keyed by the subject's name. */
export interface DomainEvent {
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly type: EventType
  readonly createdAt: Date
  readonly data: Readonly<Record<string, unknown>>
}

/** An event as it is kept: `dataText` is the JSON of its data, byte for byte as it was first written. */
export type StoredEvent = Omit<DomainEvent, 'data'> & { readonly dataText: string }
