import { randomBytes } from 'node:crypto'
import { createEmptyWorkspace } from '../../../server/src/domain/workspaces/create-empty-workspace.ts'
import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR, type Actor } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { EVENT_TYPES, type DomainEvent } from '../../../server/src/domain/events/event.ts'
import { appendEvent } from '../../../server/src/domain/webhooks/append-event.ts'
import { claimDeliveries } from '../../../server/src/domain/webhooks/claim-deliveries.ts'
import { createEndpoint } from '../../../server/src/domain/webhooks/create-endpoint.ts'
import {
  LEASE_MS,
  type AttemptOutcome,
  type ClaimedDelivery,
  type Delivery,
} from '../../../server/src/domain/webhooks/delivery.ts'
import type { EndpointWithSecret } from '../../../server/src/domain/webhooks/endpoint.ts'
import { finishAttempts } from '../../../server/src/domain/webhooks/finish-attempts.ts'
import { getDelivery } from '../../../server/src/domain/webhooks/queries.ts'
import type { Places } from '../../../server/src/domain/webhooks/places.ts'
import { createId } from '../../../server/src/values/ids.ts'
import type { Mode } from '../../../server/src/values/mode.ts'
import { readRows } from '../database/read-rows.ts'
import { eventData } from './event-data.ts'

export const RECEIVER_URL = 'https://receiver.example/hooks'

export async function makeWorkspace(ctx: Context, actor: Actor = OPERATOR): Promise<Workspace> {
  return await createEmptyWorkspace(ctx, {
    name: `Heard ${randomBytes(4).toString('hex')}`,
    plan: 'developer',
    actor,
  })
}

export async function makeEndpoint(
  ctx: Context,
  workspace: Workspace,
  {
    mode = 'test',
    url = RECEIVER_URL,
    events = EVENT_TYPES,
  }: Partial<{
    mode: Mode
    url: string
    events: readonly string[]
  }> = {},
): Promise<EndpointWithSecret> {
  return await createEndpoint(ctx, { workspaceId: workspace.id, mode, url, events, actor: OPERATOR })
}

export function makeEvent(
  ctx: Context,
  workspace: Pick<Workspace, 'id'>,
  changes: Partial<DomainEvent> = {},
): DomainEvent {
  const { createdAt = ctx.clock.now(), type = 'payment.confirmed' } = changes
  return {
    id: createId('event', createdAt),
    workspaceId: workspace.id,
    mode: 'test',
    type,
    createdAt,
    data: eventData(type, createdAt),
    ...changes,
  }
}

/** Appends an event, as the service does. */
export async function announce(
  ctx: Context,
  workspace: Pick<Workspace, 'id'>,
  changes: Partial<DomainEvent> = {},
): Promise<DomainEvent> {
  const event = makeEvent(ctx, workspace, changes)
  await ctx.db.transaction((transaction) => transaction.commit([...appendEvent(event)]))
  return event
}

/** Appends many events at once. Their times are one millisecond apart. */
export async function announceMany(
  ctx: Context,
  workspace: Workspace,
  { count, from, type = 'payment.confirmed' }: { count: number; from: Date; type?: DomainEvent['type'] },
): Promise<void> {
  const events = Array.from({ length: count }, (_, index) =>
    makeEvent(ctx, workspace, { type, createdAt: new Date(from.getTime() + index) }),
  )
  await ctx.db.transaction((transaction) => transaction.commit(events.flatMap((event) => [...appendEvent(event)])))
}

/** The free places for attempts. No test has this many due deliveries, so there is always a free place. */
export const ALL_FREE: Places = { free: 10_000, held: new Map() }

export async function claim(
  ctx: Context,
  {
    hangs = false,
    inFlightMax = 4,
    limit = 100,
    places = ALL_FREE,
  }: Partial<{ hangs: boolean; inFlightMax: number; limit: number; places: Places }> = {},
): Promise<ClaimedDelivery[]> {
  return await claimDeliveries(ctx, { hangs, inFlightMax, limit, places, leaseMs: LEASE_MS })
}

/** Claims the due delivery. There must be exactly one. */
export async function claimOne(ctx: Context): Promise<ClaimedDelivery> {
  const claimed = await claim(ctx)
  const [one] = claimed
  if (one === undefined || claimed.length > 1) throw new Error(`${claimed.length} deliveries were claimed, not one`)
  return one
}

/** Returns the outcome of an attempt that ends now. By default, it succeeded. */
export function outcomeOf(ctx: Context, changes: Partial<AttemptOutcome> = {}): AttemptOutcome {
  const durationMs = changes.durationMs ?? 120
  const startedAt = new Date(ctx.clock.now().getTime() - durationMs)
  const statusCode = changes.statusCode === undefined ? 200 : changes.statusCode
  const isGood = statusCode !== null && statusCode < 300
  return { startedAt, durationMs, statusCode, error: isGood ? null : 'http_error', responseBody: null, ...changes }
}

export async function finish(ctx: Context, claimed: ClaimedDelivery, statusCode: number): Promise<Delivery> {
  await finishAttempts(ctx, [{ claimed, outcome: outcomeOf(ctx, { statusCode }) }])
  return await readDelivery(ctx, claimed.delivery)
}

export async function readDelivery(ctx: Context, { workspaceId, id }: Pick<Delivery, 'workspaceId' | 'id'>) {
  return (await getDelivery(ctx, { workspaceId, id })).delivery
}

/** Reads the delivery to an endpoint. There must be exactly one. */
export async function readOnlyDelivery(ctx: Context, workspaceId: string, endpointId: string): Promise<Delivery> {
  const rows = await readRows(ctx.db, 'select id from deliveries where workspace_id = $1 and endpoint_id = $2', [
    workspaceId,
    endpointId,
  ])
  if (rows.length !== 1) throw new Error(`the endpoint has ${rows.length} deliveries, not one`)
  return await readDelivery(ctx, { workspaceId, id: String(rows[0]?.['id']) })
}

export async function countDeliveries(ctx: Context, workspaceId: string): Promise<number> {
  const rows = await readRows(ctx.db, 'select count(*)::integer as count from deliveries where workspace_id = $1', [
    workspaceId,
  ])
  return Number(rows[0]?.['count'])
}

/** Ends the deliveries that other tests have left unfinished. */
export async function clearQueues(ctx: Context): Promise<void> {
  await readRows(
    ctx.db,
    `update deliveries set status = 'canceled', next_attempt_at = null, leased_until = null, finished_at = created_at
      where status = 'pending'`,
  )
}
