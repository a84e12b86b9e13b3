import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../domain/context.ts'
import { claimDeliveries } from '../domain/webhooks/claim-deliveries.ts'
import { ATTEMPT_TIMEOUT_MS, LEASE_MS, type ClaimedDelivery } from '../domain/webhooks/delivery.ts'
import { finishAttempt } from '../domain/webhooks/finish-attempt.ts'
import type { Places } from '../domain/webhooks/places.ts'
import { releaseDeliveries } from '../domain/webhooks/release-deliveries.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import { openOutbound } from '../lib/outbound/open-outbound.ts'
import type { Outbound } from '../lib/outbound/post-json.ts'
import { createWakeup } from './wakeup.ts'
import { deliver } from './deliver-webhook.ts'

const CLAIM_MAX = 100
/** An outcome that can't be written is lost, and the event is sent once more when the lease ends. */
const FINISH_TRIES_MAX = 3
const FINISH_RETRY_MS = 1_000

interface PoolBounds {
  /** Endpoints that hang, or those that do not. */
  readonly hangs: boolean
  /** Of one process; nearly all of an attempt is waiting for the other side. */
  readonly inFlightMax: number
  /** Of one endpoint, over all processes. */
  readonly endpointInFlightMax: number
  readonly pollMs: number
}

/** Endpoints that hang have places of their own: however many there are, they take none of those that answer (D45). */
const POOLS: readonly PoolBounds[] = [
  { hangs: false, inFlightMax: 400, endpointInFlightMax: 4, pollMs: 200 },
  { hangs: true, inFlightMax: 200, endpointInFlightMax: 1, pollMs: 1_000 },
]

interface Attempt {
  claimed: ClaimedDelivery
  readonly done: Promise<void>
}

/** What the pools of a sender share. */
interface Sender {
  readonly outbound: Outbound
  readonly attemptMs: number
  /** By account and delivery. */
  readonly underWay: Map<string, Attempt>
}

/**
 * Sends what is due, until it is stopped. Any number of processes do so at once, each with what it has claimed. A stop
 * lets what is under way finish, which takes an attempt's time at the most.
 */
export function startSender(ctx: Context, { attemptMs = ATTEMPT_TIMEOUT_MS }: { attemptMs?: number } = {}): Loop {
  const outbound = openOutbound({ policy: ctx.outbound, clock: ctx.clock })
  const sender = { outbound, attemptMs, underWay: new Map<string, Attempt>() }
  const pools = POOLS.map((bounds) => startPool(ctx, sender, bounds))

  return {
    async stop() {
      await Promise.all(pools.map((pool) => pool.stop()))
      await Promise.all([...sender.underWay.values()].map(({ done }) => done))
      outbound.close()
    },
  }
}

/** Sends to the endpoints of one kind, within the places that they have. A stop claims nothing more. */
function startPool(ctx: Context, { outbound, attemptMs, underWay }: Sender, bounds: PoolBounds): Loop {
  const { inFlightMax, pollMs } = bounds
  const held = new Map<string, number>()
  const wakeup = createWakeup()
  let free = inFlightMax

  const begin = (claimed: ClaimedDelivery): void => {
    const { accountId, id } = claimed.delivery
    const key = `${accountId} ${id}`
    const running = underWay.get(key)
    if (running !== undefined) {
      // Its lease ended early, by a clock that was moved: what is under way counts for the new one.
      running.claimed = claimed
      return
    }
    free -= 1
    addTo(held, accountId, 1)
    const done = carryOut(ctx, { outbound, attemptMs, claimed, latest: () => underWay.get(key)?.claimed ?? claimed })
    const ended = done.finally(() => {
      underWay.delete(key)
      free += 1
      addTo(held, accountId, -1)
      wakeup.wake()
    })
    underWay.set(key, { claimed, done: ended })
  }

  const round = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const claimed = await claim(ctx, bounds, { free, held })
      if (signal.aborted) return await releaseDeliveries(ctx, claimed)
      for (const one of claimed) begin(one)
      if (free === inFlightMax) return
      // A whole batch means that there is more. Else an attempt that ends makes room, or time makes something due.
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

/** Keeps only those that hold any. */
function addTo(held: Map<string, number>, accountId: string, change: 1 | -1): void {
  const count = (held.get(accountId) ?? 0) + change
  if (count === 0) held.delete(accountId)
  else held.set(accountId, count)
}

interface Task {
  readonly outbound: Outbound
  readonly attemptMs: number
  readonly claimed: ClaimedDelivery
  /** The claim that is valid now. */
  readonly latest: () => ClaimedDelivery
}

/** Never rejects: what fails here is tried again by whoever claims the delivery after its lease. */
async function carryOut(ctx: Context, { outbound, attemptMs, claimed, latest }: Task): Promise<void> {
  const delivery = claimed.delivery.id
  try {
    const outcome = await deliver(outbound, { claimed, timeoutMs: attemptMs })
    for (let tries = 1; ; tries += 1) {
      try {
        return await finishAttempt(ctx, { claimed: latest(), outcome })
      } catch (error) {
        if (tries >= FINISH_TRIES_MAX) throw error
        await delay(FINISH_RETRY_MS)
      }
    }
  } catch (error) {
    ctx.logger.error({ err: error, delivery }, 'the outcome of a delivery could not be recorded')
  }
}
