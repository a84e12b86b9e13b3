import type { Account } from '../../../../server/src/domain/accounts/account.ts'
import { getAccount } from '../../../../server/src/domain/accounts/get-account.ts'
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
    const account = await getAccount(context, slugIn(request))
    const fields = new Fields(request.body)
    const { endpoint, secret } = await createEndpoint(context, {
      accountId: account.id,
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
    const account = await getAccount(context, slugIn(request))
    slugs.add(account.slug)
    const deliveries = (await Promise.all(MODES.map((mode) => readDeliveries(control, account, mode)))).flat()
    return { deliveries: deliveries.toSorted((left, right) => (left.id < right.id ? 1 : -1)) }
  })

  http.post('/deliveries/:id/replay', async (request, reply) => {
    const deliveryId = idIn(request)
    for (const slug of Object.keys(state.current.owners)) slugs.add(slug)
    const accountId = await findAccountId(control, [...slugs], deliveryId)
    const delivery = await replayDelivery(context, { accountId, deliveryId, actor: OPERATOR })
    return reply.code(201).send({ delivery: formatDelivery(delivery, []) })
  })
}

/** Lists a workspace's deliveries in one mode with their attempts, newest first. */
async function readDeliveries({ context }: ControlContext, { id: accountId }: Account, mode: Mode) {
  const found: ReturnType<typeof formatDelivery>[] = []
  for (let before: string | null = null; found.length < DELIVERIES_LISTED_MAX;) {
    const page: Delivery[] = await listDeliveries(context, {
      accountId,
      mode,
      filter: {},
      before,
      limit: PAGE_DELIVERIES,
    })
    const whole = await Promise.all(page.map(({ id }) => getDelivery(context, { accountId, id })))
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
async function findAccountId(
  { context }: ControlContext,
  slugs: readonly string[],
  deliveryId: string,
): Promise<string> {
  for (const slug of slugs) {
    const { id: accountId } = await getAccount(context, slug)
    const found = await getDelivery(context, { accountId, id: deliveryId }).catch(nullIfNotFound)
    if (found !== null) return accountId
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
