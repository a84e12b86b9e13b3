import type { Delivery, DeliveryAttempt } from '../domain/webhooks/delivery.ts'
import type { DeliverySummary } from '../domain/webhooks/delivery-summaries-store.ts'
import type { Delivery as DeliveryView, DeliveryAttempt as AttemptView, ListedDelivery } from './contract/deliveries.ts'

export function formatDelivery(delivery: Delivery): DeliveryView {
  return {
    id: delivery.id,
    mode: delivery.mode,
    webhook_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    trigger: delivery.trigger,
    status: delivery.status,
    attempt_count: delivery.attempts,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    finished_at: delivery.finishedAt?.toISOString() ?? null,
  }
}

/** Formats a delivery in the log. `summary` is missing if the delivery was deleted meanwhile. */
export function formatListedDelivery(delivery: Delivery, summary: DeliverySummary | undefined): ListedDelivery {
  const attempt = summary?.lastAttempt ?? null
  const payment = summary?.payment ?? null
  return {
    ...formatDelivery(delivery),
    last_attempt: attempt === null ? null : { status_code: attempt.statusCode, error: attempt.error },
    payment: payment === null ? null : { id: payment.id, amount_usdc: payment.amountUsdc },
  }
}

/**
 * Formats an attempt for the dashboard. The receiver's response body may contain any bytes; those that are not UTF-8
 * are replaced.
 */
export function formatAttempt(attempt: DeliveryAttempt): AttemptView {
  return {
    number: attempt.number,
    at: attempt.startedAt.toISOString(),
    status_code: attempt.statusCode,
    error: attempt.error,
    duration_ms: attempt.durationMs,
    response_body: attempt.responseBody?.toString('utf8') ?? null,
  }
}
