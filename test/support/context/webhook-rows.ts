import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { EVENT_TYPES, type DomainEvent } from '../../../server/src/domain/events/event.ts'
import { createEndpoint } from '../../../server/src/domain/webhooks/create-endpoint.ts'
import type { Delivery } from '../../../server/src/domain/webhooks/delivery.ts'
import type { WebhookEndpoint } from '../../../server/src/domain/webhooks/endpoint.ts'
import { listEndpoints } from '../../../server/src/domain/webhooks/queries.ts'
import type { Mode } from '../../../server/src/values/mode.ts'
import { announce, readDelivery } from './delivery-rows.ts'

/** Returns the workspace's first endpoint. If there is none, creates one that is subscribed to every kind of event. */
export async function seedEndpoint(
  ctx: Context,
  { workspace, mode = 'test' }: { workspace: Workspace; mode?: Mode },
): Promise<WebhookEndpoint> {
  const [first] = await listEndpoints(ctx, { workspaceId: workspace.id, mode })
  if (first !== undefined) return first
  const wanted = { workspaceId: workspace.id, mode, url: 'https://hooks.example/seeded', events: EVENT_TYPES }
  return (await createEndpoint(ctx, { ...wanted, actor: OPERATOR })).endpoint
}

/** Appends an event, and returns its delivery to the endpoint. */
export async function seedDelivery(
  ctx: Context,
  { workspaceId, id, mode }: WebhookEndpoint,
  changes: Partial<DomainEvent> = {},
): Promise<Delivery> {
  const event = await announce(ctx, { id: workspaceId }, { mode, ...changes })
  return await readDelivery(ctx, { workspaceId, id: `dlv_${event.id.slice(4)}_${id.slice(4)}` })
}
