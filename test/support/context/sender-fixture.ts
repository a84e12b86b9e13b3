import assert from 'node:assert/strict'
import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import type { DomainEvent } from '../../../server/src/domain/events/event.ts'
import { getDelivery } from '../../../server/src/domain/webhooks/queries.ts'
import type { Delivery, DeliveryAttempt } from '../../../server/src/domain/webhooks/delivery.ts'
import type { WebhookEndpoint } from '../../../server/src/domain/webhooks/endpoint.ts'
import type { Loop } from '../../../server/src/lib/loop.ts'
import type { Mode } from '../../../server/src/values/mode.ts'
import { sendWebhooks } from '../../../server/src/jobs/send-webhooks.ts'
import { announce, makeWorkspace, makeEndpoint } from './delivery-rows.ts'
import { readRows } from '../database/read-rows.ts'
import { startReceiver, type Receiver, type Reply } from '../wires/receiver.ts'
import { openTestContext, type TestContext } from './test-context.ts'
import { openContractCheck } from '../service/check-contract.ts'
import { waitFor } from '../wait-for.ts'

/** A webhook endpoint and the server that receives its deliveries. */
export interface Subscription {
  readonly receiver: Receiver
  readonly endpoint: WebhookEndpoint
  readonly secret: string
}

export interface Log {
  readonly delivery: Delivery
  readonly attempts: readonly DeliveryAttempt[]
}

const CANCEL = `update deliveries set status = 'canceled', next_attempt_at = null, leased_until = null, finished_at = $1
  where status = 'pending'`

/**
 * Subscribes receivers to events, and starts senders that deliver the events. Tests can move the clock of the senders.
 * `reset` and `close` stop the senders and the receivers.
 */
export interface SenderFixture {
  readonly given: TestContext
  readonly ctx: Context
  subscribe(
    workspace: Workspace,
    options?: { mode?: Mode; events?: readonly string[]; reply?: Reply },
  ): Promise<Subscription>
  startSender(options?: { ctx?: Context; attemptMs?: number }): Loop
  /** Moves the clock forward, or back if the number is negative. */
  advance(milliseconds: number): void
  /** Returns the deliveries of an endpoint, oldest first. */
  logs(endpoint: WebhookEndpoint): Promise<Log[]>
  /** Waits until the event's only delivery to the endpoint satisfies `looks`. Returns this delivery. */
  logWhen(endpoint: WebhookEndpoint, event: { id: string }, looks: (log: Log) => boolean): Promise<Log>
  /** Waits until a sender has searched once more for due deliveries. */
  lookedAround(): Promise<void>
  /**
   * Ends a test: stops its senders, closes its receivers, and ensures that no delivery is still due in the next test.
   * Throws if the contract does not describe a delivery that a receiver got.
   */
  reset(): Promise<void>
  close(): Promise<void>
}

export async function openSenderFixture(): Promise<SenderFixture> {
  const given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
  const ctx = given.context
  const contract = await openContractCheck()
  let senders: Loop[] = []
  let receivers: Receiver[] = []
  let offsetMs = 0

  const subscribe: SenderFixture['subscribe'] = async (workspace, { mode = 'test', events, reply = 200 } = {}) => {
    const receiver = await startReceiver()
    receiver.reply(reply)
    receivers.push(receiver)
    const wanted = events === undefined ? {} : { events }
    return { receiver, ...(await makeEndpoint(ctx, workspace, { mode, url: receiver.url, ...wanted })) }
  }

  const logs: SenderFixture['logs'] = async ({ workspaceId, id }) => {
    const text = 'select id from deliveries where workspace_id = $1 and endpoint_id = $2 order by created_at, id'
    const rows = await readRows(ctx.db, text, [workspaceId, id])
    return await Promise.all(rows.map((row) => getDelivery(ctx, { workspaceId, id: String(row['id']) })))
  }

  const reset = async (): Promise<void> => {
    const [stopping, closing] = [senders, receivers]
    senders = []
    receivers = []
    // Closing a receiver's connections ends the attempts that are still in progress.
    await Promise.all(closing.map((receiver) => receiver.close()))
    await Promise.all(stopping.map((sender) => sender.stop()))
    await readRows(ctx.db, CANCEL, [ctx.clock.now()])
    for (const { received } of closing) for (const delivery of received) contract.checkDelivery(delivery)
  }

  return {
    given,
    ctx,
    subscribe,
    logs,
    reset,
    startSender(options = {}) {
      const { ctx: context = ctx, ...rest } = options
      const sender = sendWebhooks(context, rest)
      senders.push(sender)
      return sender
    },
    advance(milliseconds) {
      offsetMs += milliseconds
      given.clock.setOffset(offsetMs)
    },
    async logWhen(endpoint, event, looks) {
      return await waitFor(`the delivery of ${event.id} to look so: ${String(looks)}`, async () => {
        const found = (await logs(endpoint)).filter(({ delivery }) => delivery.eventId === event.id)
        const [log] = found
        if (found.length > 1) throw new Error(`${event.id} has ${found.length} deliveries`)
        return log !== undefined && looks(log) && log
      })
    },
    async lookedAround() {
      const workspace = await makeWorkspace(ctx)
      const { receiver } = await subscribe(workspace)
      await announce(ctx, workspace)
      await receiver.arrived(1)
    },
    async close() {
      await reset()
      await given.close()
    },
  }
}

/** Appends an event, and waits until its only delivery has been attempted. Returns the event and the delivery. */
export async function deliverOne(
  sending: SenderFixture,
  workspace: Workspace,
  { endpoint }: Subscription,
  changes: Partial<DomainEvent> = {},
): Promise<Log & { event: DomainEvent }> {
  const event = await announce(sending.ctx, workspace, changes)
  return { event, ...(await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts > 0)) }
}

/** Returns the time at which the attempt ended. */
export function endOf(attempt: DeliveryAttempt | undefined): number {
  assert.ok(attempt !== undefined)
  return attempt.startedAt.getTime() + attempt.durationMs
}
