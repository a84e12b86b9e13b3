import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../domain/context.ts'
import { claimDeliveries } from '../domain/webhooks/claim-deliveries.ts'
import { ATTEMPT_TIMEOUT_MS, LEASE_MS, type ClaimedDelivery } from '../domain/webhooks/delivery.ts'
import type { Places } from '../domain/webhooks/places.ts'
import { releaseDeliveries } from '../domain/webhooks/release-deliveries.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import { SENDER_PLACES } from '../lib/pools.ts'
import { openOutbound } from '../lib/outbound/open-outbound.ts'
import type { Outbound } from '../lib/outbound/send-request.ts'
import { createWakeup } from './wakeup.ts'
import { deliverWebhook } from './deliver-webhook.ts'
import { createOutcomeRecorder, type AttemptToRecord, type OutcomeRecorder } from './record-outcomes.ts'

const CLAIM_MAX = 100
/**
 * How many times we try to record the outcome of an attempt. If all tries fail, the outcome is lost, and the event is
 * sent again after the claim has expired.
 */
const FINISH_TRIES_MAX = 3
const FINISH_RETRY_MS = 1_000

interface PoolBounds {
  /**
   * Whether this pool sends to endpoints that hang, or to all other endpoints. An endpoint hangs if it accepts requests
   * but does not respond in time.
   */
  readonly hangs: boolean
  /** The most attempts at once in one process. */
  readonly inFlightMax: number
  /** The most attempts at once to one endpoint, counting all processes. */
  readonly endpointInFlightMax: number
  readonly pollMs: number
}

/** There are two pools, so that endpoints that hang never use up the attempts for endpoints that respond (D45). */
const POOLS: readonly PoolBounds[] = [
  { hangs: false, inFlightMax: SENDER_PLACES.promptWebhooks, endpointInFlightMax: 4, pollMs: 200 },
  { hangs: true, inFlightMax: SENDER_PLACES.hangingWebhooks, endpointInFlightMax: 1, pollMs: 1_000 },
]

interface Attempt {
  claimed: ClaimedDelivery
  readonly done: Promise<void>
}

/** What both pools share. */
interface Sender {
  readonly outbound: Outbound
  readonly recorder: OutcomeRecorder
  readonly attemptMs: number
  /** Attempts in progress, by workspace and delivery. */
  readonly underWay: Map<string, Attempt>
}

/**
 * Sends due deliveries until it is stopped. Any number of processes can do so at the same time: each sends the
 * deliveries that it has claimed. `stop` waits for the attempts in progress, which takes no longer than the time limit
 * of one attempt.
 */
export function sendWebhooks(ctx: Context, { attemptMs = ATTEMPT_TIMEOUT_MS }: { attemptMs?: number } = {}): Loop {
  const outbound = openOutbound({ policy: ctx.outbound, clock: ctx.clock })
  const sender = { outbound, recorder: createOutcomeRecorder(ctx), attemptMs, underWay: new Map<string, Attempt>() }
  const pools = POOLS.map((bounds) => startPool(ctx, sender, bounds))

  return {
    async stop() {
      await Promise.all(pools.map((pool) => pool.stop()))
      await Promise.all([...sender.underWay.values()].map(({ done }) => done))
      outbound.close()
    },
  }
}

/** Sends to the endpoints of one pool, within its limits. After a stop, the pool claims no more deliveries. */
function startPool(ctx: Context, sender: Sender, bounds: PoolBounds): Loop {
  const { underWay } = sender
  const { inFlightMax, pollMs } = bounds
  const inFlight = new Map<string, number>()
  const wakeup = createWakeup()
  let free = inFlightMax
  const measureUnderWay = (): void =>
    ctx.measurements.webhooksUnderWay(bounds.hangs ? 'hanging' : 'prompt', inFlightMax - free)

  const begin = (claimed: ClaimedDelivery): void => {
    const { workspaceId, id } = claimed.delivery
    const groups = new Set([claimed.holder, workspaceId])
    const key = `${workspaceId} ${id}`
    const running = underWay.get(key)
    if (running !== undefined) {
      // The first claim of this delivery expired early because a clock was moved, so it was claimed again. The attempt
      // in progress now counts for the new claim.
      running.claimed = claimed
      return
    }
    free -= 1
    measureUnderWay()
    addTo(inFlight, groups, 1)
    const done = makeAttempt(ctx, sender, { claimed, latest: () => underWay.get(key)?.claimed ?? claimed })
    const ended = done.finally(() => {
      underWay.delete(key)
      free += 1
      measureUnderWay()
      addTo(inFlight, groups, -1)
      wakeup.wake()
    })
    underWay.set(key, { claimed, done: ended })
  }

  const round = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const claimed = await claim(ctx, bounds, { free, held: inFlight })
      if (signal.aborted) return await releaseDeliveries(ctx, claimed)
      for (const one of claimed) begin(one)
      if (free === inFlightMax) return
      // After a full batch, more deliveries may be due. Otherwise wait until an attempt ends or the polling interval is
      // over.
      if (claimed.length < CLAIM_MAX) await wakeup.wait(pollMs)
    }
  }
  const name = bounds.hangs ? 'send-webhooks-to-hanging' : 'send-webhooks'
  const loop = startLoop({ name, intervalMs: pollMs, logger: ctx.logger }, round)

  return {
    async stop() {
      const stopped = loop.stop()
      wakeup.wake()
      await stopped
    },
  }
}

async function claim(
  ctx: Context,
  { hangs, endpointInFlightMax }: PoolBounds,
  places: Places,
): Promise<readonly ClaimedDelivery[]> {
  const limit = Math.min(places.free, CLAIM_MAX)
  return await claimDeliveries(ctx, { hangs, inFlightMax: endpointInFlightMax, limit, places, leaseMs: LEASE_MS })
}

/** Changes the counts of a holder and a workspace. Counts of zero are removed. */
function addTo(counts: Map<string, number>, groups: ReadonlySet<string>, change: 1 | -1): void {
  for (const group of groups) {
    const count = (counts.get(group) ?? 0) + change
    if (count === 0) counts.delete(group)
    else counts.set(group, count)
  }
}

interface Task {
  readonly claimed: ClaimedDelivery
  /** Returns the claim that is valid now, which may be newer than `claimed`. */
  readonly latest: () => ClaimedDelivery
}

/**
 * Makes one attempt and records its outcome. The promise never rejects: if something fails, the claim expires, and a
 * process claims the delivery again.
 */
async function makeAttempt(
  ctx: Context,
  { outbound, recorder, attemptMs }: Sender,
  { claimed, latest }: Task,
): Promise<void> {
  const delivery = claimed.delivery.id
  try {
    const outcome = await deliverWebhook(outbound, { claimed, timeoutMs: attemptMs })
    ctx.measurements.webhookAttempted(outcome.error ?? 'ok')
    await record(recorder, { latest, outcome })
  } catch (error) {
    ctx.logger.error({ err: error, delivery }, 'the outcome of a delivery could not be recorded')
  }
}

/** Records an outcome. If that fails, waits and tries again. Throws after `FINISH_TRIES_MAX` tries. */
async function record(recorder: OutcomeRecorder, ended: AttemptToRecord): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await recorder.record(ended)
    } catch (error) {
      if (tries >= FINISH_TRIES_MAX) throw error
    }
    await delay(FINISH_RETRY_MS)
  }
}
