import type { Transaction } from '../../db/transaction.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { grantEvent } from '../grants/record-status-change.ts'
import { findGrants, suspendGrantsOf, type StopScope } from '../grants/stopped-grants-store.ts'
import { appendEvents } from '../webhooks/append-event.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import type { Stop } from './stop.ts'
import { insertStop } from './stops-store.ts'

/** At most this many grants are read at once, so that the events of few grants are in memory. */
const GRANTS_PER_STEP = 500

export interface StopRequest extends StopScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly actor: Actor
}

/**
 * Suspends every grant of a scope that allows payments, in one transaction (D87). When it has committed, no process
 * records a payment under these grants any more, because each payment reads its grant under a lock (D22). Needs no
 * signature and no recent proof. Each suspended grant remembers the stop, and has an event of its own.
 *
 * Returns the number of suspended grants, and null instead of a stop if there were none.
 *
 * Errors: 404 `agent_not_found`, `wallet_not_found`.
 */
export async function stopAgents(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, agentId, walletAddress, actor }: StopRequest,
): Promise<{ readonly stop: Stop | null; readonly grants: number }> {
  const createdAt = ctx.clock.now()
  const createdBy = actor.kind === 'user' ? actor.id : null
  const id = createId('stop', createdAt)
  const stop: Stop = { workspaceId, id, mode, agentId, walletAddress, createdAt, createdBy }
  return await ctx.db.transaction(
    async (transaction) => {
      // Grants are activated under this lock too, so a grant is either active here, or its activation sees this stop.
      const [, isKnown] = await transaction.batch([lockWorkspace(workspaceId), insertStop(stop)])
      if (!isKnown) throw problem(agentId === null ? 'wallet_not_found' : 'agent_not_found')
      const grants = await suspendAll(transaction, stop)
      if (grants === 0) {
        await transaction.rollback()
        return { stop: null, grants }
      }
      await transaction.commit([insertAuditEntry(describeStop(stop, grants, actor))])
      return { stop, grants }
    },
    // A stop goes before payments that wait for a connection.
    { isOutcome: true },
  )
}

/** Suspends the grants, and inserts an event for each of them. Returns their number. */
async function suspendAll(transaction: Transaction, stop: Stop): Promise<number> {
  const { workspaceId, createdAt } = stop
  const ids = await transaction.run(suspendGrantsOf(stop, { stopId: stop.id, now: createdAt }))
  for (let start = 0; start < ids.length; start += GRANTS_PER_STEP) {
    const grants = await transaction.run(findGrants(workspaceId, ids.slice(start, start + GRANTS_PER_STEP)))
    await transaction.batch(appendEvents(grants.map((grant) => grantEvent('permission.suspended', grant, createdAt))))
  }
  return ids.length
}

function describeStop(
  { workspaceId, id, mode, agentId, walletAddress, createdAt }: Stop,
  grants: number,
  actor: Actor,
) {
  const scope = {
    ...(agentId === null ? {} : { agent_id: agentId }),
    ...(walletAddress === null ? {} : { wallet: walletAddress }),
  }
  const details = { mode, ...scope, grants }
  return { logId: workspaceId, createdAt, actor, action: 'agents.stopped', subject: id, details } as const
}
