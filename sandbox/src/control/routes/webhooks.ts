import type { Workspace } from '../../../../server/src/domain/workspaces/workspace.ts'
import { getWorkspace } from '../../../../server/src/domain/workspaces/get-workspace.ts'
import { OPERATOR } from '../../../../server/src/domain/audit/audit-entry.ts'
import { EVENT_TYPES } from '../../../../server/src/domain/events/event.ts'
import { createEndpoint } from '../../../../server/src/domain/webhooks/create-endpoint.ts'
import type { Delivery, DeliveryAttempt } from '../../../../server/src/domain/webhooks/delivery.ts'
import { getDelivery } from '../../../../server/src/domain/webhooks/queries.ts'
import { listDeliveries } from '../../../../server/src/domain/webhooks/list-deliveries.ts'
import { replayDelivery } from '../../../../server/src/domain/webhooks/replay-delivery.ts'
import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { problem, Problem } from '../../../../server/src/values/problem.ts'
import { MODES, type Mode } from '../../addresses.ts'
import { Fields } from '../fields.ts'
import { idIn, slugIn } from '../path-fields.ts'
import type { ControlContext } from '../control-context.ts'

/** The number of deliveries listed for each mode. Older deliveries are left out. */
const DELIVERIES_LISTED_MAX = 10_000
const PAGE_DELIVERIES = 100

/** Adds the routes that create a workspace's webhook endpoints, and list and replay its deliveries. */
export function addWebhookRoutes(http: HttpServer, control: ControlContext): void {
  const { context, state } = control

  http.post('/workspaces/:slug/webhooks', async (request, reply) => {
    const workspace = await getWorkspace(context, slugIn(request))
    const fields = new Fields(request.body)
    const { endpoint, secret } = await createEndpoint(context, {
      workspaceId: workspace.id,
      mode: fields.mode(),
      url: fields.text('url'),
      events: fields.someOf('events', EVENT_TYPES),
      actor: OPERATOR,
    })
    return reply.code(201).send({ webhook: { id: endpoint.id, url: endpoint.url, secret } })
  })

  /**
   * The workspaces whose deliveries a caller has listed. For a replay, we search for the delivery in these workspaces
   * and in those that the control API created.
   */
  const slugs = new Set<string>()
  http.get('/workspaces/:slug/deliveries', async (request) => {
    const workspace = await getWorkspace(context, slugIn(request))
    slugs.add(workspace.slug)
    const deliveries = (await Promise.all(MODES.map((mode) => readDeliveries(control, workspace, mode)))).flat()
    return { deliveries: deliveries.toSorted((left, right) => (left.id < right.id ? 1 : -1)) }
  })

  http.post('/deliveries/:id/replay', async (request, reply) => {
    const deliveryId = idIn(request)
    for (const slug of Object.keys(state.current.owners)) slugs.add(slug)
    const workspaceId = await findWorkspaceId(control, [...slugs], deliveryId)
    const delivery = await replayDelivery(context, { workspaceId, deliveryId, actor: OPERATOR })
    return reply.code(201).send({ delivery: formatDelivery(delivery, []) })
  })
}

/** Lists a workspace's deliveries in one mode with their attempts, newest first. */
async function readDeliveries({ context }: ControlContext, { id: workspaceId }: Workspace, mode: Mode) {
  const found: ReturnType<typeof formatDelivery>[] = []
  for (let before: string | null = null; found.length < DELIVERIES_LISTED_MAX;) {
    const page: Delivery[] = await listDeliveries(context, {
      workspaceId,
      mode,
      filter: {},
      before,
      limit: PAGE_DELIVERIES,
    })
    const whole = await Promise.all(page.map(({ id }) => getDelivery(context, { workspaceId, id })))
    found.push(...whole.map(({ delivery, attempts }) => formatDelivery(delivery, attempts)))
    before = page.at(-1)?.id ?? null
    if (page.length < PAGE_DELIVERIES) break
  }
  return found
}

/**
 * Finds the workspace of a delivery. The server has no operation that reads across workspaces, so each workspace is
 * searched.
 */
async function findWorkspaceId(
  { context }: ControlContext,
  slugs: readonly string[],
  deliveryId: string,
): Promise<string> {
  for (const slug of slugs) {
    const { id: workspaceId } = await getWorkspace(context, slug)
    const found = await getDelivery(context, { workspaceId, id: deliveryId }).catch(nullIfNotFound)
    if (found !== null) return workspaceId
  }
  throw problem('delivery_not_found')
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof Problem && error.code === 'delivery_not_found') return null
  throw error
}

function formatDelivery(delivery: Delivery, attempts: readonly DeliveryAttempt[]) {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    webhook_id: delivery.endpointId,
    status: delivery.status,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    attempts: attempts.map((attempt) => ({
      at: attempt.startedAt.toISOString(),
      status_code: attempt.statusCode,
      error: attempt.error,
      duration_ms: attempt.durationMs,
    })),
  }
}
