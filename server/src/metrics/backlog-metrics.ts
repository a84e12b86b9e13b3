import { Gauge, type Registry } from '@prometheus-io/client'
import type { Context } from '../domain/context.ts'
import { MODES } from '../values/mode.ts'
import {
  countDifferingGrants,
  countPendingDeliveries,
  countPendingPurchases,
  countPendingTransfers,
  countUnexplainedTransfers,
  listChainCursors,
  listLeases,
  readLogProgress,
} from './backlog-store.ts'

/**
 * Of each kind of waiting work, at most so many rows are counted. If there are more, the count is this number, and the
 * age may be lower than the real one. So a scrape takes a limited time, however much waits.
 */
const ROWS_MAX = 10_000
/** A process has one lease for each job and mode, about 20. */
const LEASES_MAX = 100
/** If the database takes longer, the scrape responds without what the database would have said. */
const READ_MS_MAX = 2_000
const MS_PER_SECOND = 1_000

/** Returns a function that reads how much work waits in the database, and sets the metrics to it. */
export function addBacklogMetrics(registry: Registry, ctx: Pick<Context, 'db' | 'clock' | 'logger'>) {
  const registers = [registry]
  const up = new Gauge({
    name: 'bursar_database_up',
    help: 'Whether the database responded to this scrape; if it is 0, the metrics that come from it are missing',
    registers,
  })
  const pending = new Gauge({
    name: 'bursar_payments_pending',
    help: `Pending payments, at most ${ROWS_MAX} of a kind, with or without a transaction hash`,
    labelNames: ['mode', 'kind', 'hash'],
    registers,
  })
  const pendingAge = new Gauge({
    name: 'bursar_payments_oldest_pending_age_seconds',
    help: 'The age of the oldest pending payment that was counted',
    labelNames: ['mode', 'kind', 'hash'],
    registers,
  })
  const deliveries = new Gauge({
    name: 'bursar_webhook_deliveries_pending',
    help: `Events that wait to be sent to an enabled webhook endpoint, at most ${ROWS_MAX}`,
    labelNames: ['endpoints'],
    registers,
  })
  const due = new Gauge({
    name: 'bursar_webhook_deliveries_due',
    help: 'Those of them whose time to be sent has come',
    labelNames: ['endpoints'],
    registers,
  })
  const overdue = new Gauge({
    name: 'bursar_webhook_deliveries_oldest_due_age_seconds',
    help: 'For how long the oldest of them has been due',
    labelNames: ['endpoints'],
    registers,
  })
  const leases = new Gauge({
    name: 'bursar_job_lease_expires_timestamp_seconds',
    help: 'When the lease of a job expires, whichever process has it; missing if none has it',
    labelNames: ['job_name'],
    registers,
  })
  const cursors = new Gauge({
    name: 'bursar_chain_cursor_block',
    help: 'The block up to which a chain was read',
    labelNames: ['mode', 'cursor'],
    registers,
  })
  const unexplained = new Gauge({
    name: 'bursar_unexplained_transfers',
    help: `Transfers out of wallets that no payment explains, at most ${ROWS_MAX}`,
    labelNames: ['mode'],
    registers,
  })
  const differing = new Gauge({
    name: 'bursar_grants_differing_from_enclave',
    help: `Active grants whose terms in the database differ from those that an owner signed, at most ${ROWS_MAX}`,
    labelNames: ['mode'],
    registers,
  })
  const leaves = new Gauge({
    name: 'bursar_transparency_log_leaves',
    help: 'How many leaves the transparency log has',
    registers,
  })
  const unlogged = new Gauge({
    name: 'bursar_transparency_log_oldest_queued_age_seconds',
    help: 'The age of the oldest change that has no leaf in the transparency log yet; 0 if there is none',
    registers,
  })
  const gauges = [
    pending,
    pendingAge,
    deliveries,
    due,
    overdue,
    leases,
    cursors,
    unexplained,
    differing,
    leaves,
    unlogged,
  ]
  let underWay: Promise<void> | null = null

  const read = async (): Promise<void> => {
    const now = ctx.clock.now()
    const ageOf = (time: Date | null): number => (time === null ? 0 : secondsBetween(time, now))
    const kinds = MODES.flatMap((mode) => [
      { mode, kind: 'transfer', query: countPendingTransfers(mode, ROWS_MAX) },
      { mode, kind: 'purchase', query: countPendingPurchases(mode, ROWS_MAX) },
    ])
    const [waiting, held, blocks, transfers, altered, log, ...payments] = await ctx.db.readSlow([
      countPendingDeliveries(now, ROWS_MAX),
      listLeases(LEASES_MAX),
      listChainCursors(),
      countUnexplainedTransfers(ROWS_MAX),
      countDifferingGrants(ROWS_MAX),
      readLogProgress(),
      ...kinds.map(({ query }) => query),
    ])
    for (const gauge of gauges) gauge.reset()
    kinds.forEach(({ mode, kind }, index) => {
      for (const hash of ['known', 'unknown']) {
        const found = payments[index]?.find(({ hasHash }) => hasHash === (hash === 'known'))
        pending.set({ mode, kind, hash }, found?.count ?? 0)
        pendingAge.set({ mode, kind, hash }, ageOf(found?.oldestAt ?? null))
      }
    })
    for (const endpoints of ['prompt', 'hanging']) {
      const found = waiting.find(({ hangs }) => hangs === (endpoints === 'hanging'))
      deliveries.set({ endpoints }, found?.count ?? 0)
      due.set({ endpoints }, found?.dueCount ?? 0)
      overdue.set({ endpoints }, ageOf(found?.nextAttemptAt ?? null))
    }
    for (const { name, expiresAt } of held) leases.set({ job_name: name }, expiresAt.getTime() / MS_PER_SECOND)
    for (const { name, mode, block } of blocks) cursors.set({ mode, cursor: name }, block)
    for (const mode of MODES) {
      unexplained.set({ mode }, transfers.find((one) => one.mode === mode)?.count ?? 0)
      differing.set({ mode }, altered.find((one) => one.mode === mode)?.count ?? 0)
    }
    leaves.set(log.leaves)
    unlogged.set(ageOf(log.oldestQueuedAt))
    up.set(1)
  }

  /** Never throws. A read that takes too long goes on, and no other one begins before it has ended. */
  return async (): Promise<void> => {
    underWay ??= read()
      .catch((error: unknown) => {
        ctx.logger.warn({ err: error }, 'the database did not say how much work waits')
        for (const gauge of gauges) gauge.reset()
        up.set(0)
      })
      .finally(() => {
        underWay = null
      })
    const late = AbortSignal.timeout(READ_MS_MAX)
    await Promise.race([underWay, once(late)])
    if (!late.aborted) return
    for (const gauge of gauges) gauge.reset()
    up.set(0)
  }
}

function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime()) / MS_PER_SECOND
}

async function once(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
