import { createId } from '../../values/ids.ts'
import type { DomainEvent } from '../events/event.ts'
import type { Delivery, DeliveryTrigger } from './delivery.ts'

/** Returns a new delivery that a user asked for. It is due at once. */
export function makeDelivery(
  event: Pick<DomainEvent, 'workspaceId' | 'mode' | 'id' | 'type'>,
  { endpointId, trigger, now }: { endpointId: string; trigger: Exclude<DeliveryTrigger, 'event'>; now: Date },
): Delivery {
  return {
    workspaceId: event.workspaceId,
    id: createId('delivery', now),
    mode: event.mode,
    endpointId,
    eventId: event.id,
    eventType: event.type,
    trigger,
    status: 'pending',
    attempts: 0,
    nextAttemptAt: now,
    createdAt: now,
    finishedAt: null,
  }
}
