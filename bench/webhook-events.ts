import { createEmptyWorkspace } from '../server/src/domain/workspaces/create-empty-workspace.ts'
import { OPERATOR } from '../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../server/src/domain/context.ts'
import { EVENT_TYPES } from '../server/src/domain/events/event.ts'
import { appendEvent } from '../server/src/domain/webhooks/append-event.ts'
import { createEndpoint } from '../server/src/domain/webhooks/create-endpoint.ts'
import { createId } from '../server/src/values/ids.ts'

/** Returns the URL of an endpoint that accepts every event. */
export function okUrl(port: number, index: number): string {
  return `http://127.0.0.1:${port}/ok/${index}`
}

/** Creates a workspace with these webhook endpoints, which get all events. Returns the workspace's id. */
export async function openWorkspace(ctx: Context, urls: readonly string[]): Promise<string> {
  const { id: workspaceId } = await createEmptyWorkspace(ctx, { name: 'Bench', plan: 'scale', actor: OPERATOR })
  for (const url of urls) {
    await createEndpoint(ctx, { workspaceId, mode: 'test', url, events: EVENT_TYPES, actor: OPERATOR })
  }
  return workspaceId
}

/** Stores `count` events in each of the workspaces, in one transaction. Their deliveries are due at once. */
export async function announce(ctx: Context, workspaces: readonly string[], count: number): Promise<void> {
  const createdAt = ctx.clock.now()
  await ctx.db.transaction((transaction) =>
    transaction.commit(
      workspaces.flatMap((workspaceId) =>
        Array.from({ length: count }, () =>
          appendEvent({
            id: createId('event', createdAt),
            workspaceId,
            mode: 'test',
            type: 'payment.created',
            createdAt,
            data: paymentData(),
          }),
        ).flat(),
      ),
    ),
  )
}

/** The data of an event about a payment, with realistic sizes. */
export function paymentData(): Record<string, unknown> {
  const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const payment = { id: 'pay_bench', kind: 'transfer', agent_id: 'agent', grant_id: 'grt_bench', status: 'pending' }
  const fields = { failure_code: null, tx_hash: null, amount_usdc: '1.5', to: address, from: address, memo: null }
  const end = { idempotency_key: null, created_at: '2026-01-01T00:00:00.000Z', confirmed_at: null }
  return { payment: { ...payment, ...fields, ...end } }
}
