import type { Mode } from '../../values/mode.ts'

/** The kinds of event (specification, part 6). */
export type EventType =
  | 'payment.created'
  | 'payment.confirmed'
  | 'payment.failed'
  | 'inbound.received'
  | 'permission.granted'
  | 'permission.revoked'

/** What became true (D42). `data` is the wire shape of its subject, keyed by the subject's name. */
export interface DomainEvent {
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly type: EventType
  readonly createdAt: Date
  readonly data: Readonly<Record<string, unknown>>
}
