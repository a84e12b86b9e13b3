import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../domain/context.ts'
import { claimDeliveries } from '../domain/webhooks/claim-deliveries.ts'
import { ATTEMPT_MS, LEASE_MS, type ClaimedDelivery } from '../domain/webhooks/delivery.ts'
import { finishAttempt } from '../domain/webhooks/finish-attempt.ts'
import { releaseDeliveries } from '../domain/webhooks/release-deliveries.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import { openOutbound } from '../lib/outbound/open-outbound.ts'
import type { Outbound } from '../lib/outbound/post-json.ts'
import { createBell } from './bell.ts'
import { deliver } from './deliver.ts'

const POLL_MS = 200
/** Of one process; nearly all of an attempt is waiting for the other side. */
const IN_FLIGHT_MAX = 200
/** Of one endpoint, over all processes: one that hangs holds so many places, and no more. */
const ENDPOINT_IN_FLIGHT_MAX = 4
const CLAIM_MAX = 100
/** An outcome that can't be written is lost, and the event is sent once more when the lease ends. */
const FINISH_TRIES_MAX = 3
const FINISH_RETRY_MS = 1_000

interface Attempt {
  claimed: ClaimedDelivery
  readonly done: Promise<void>
}

/**
 * Sends what is due, until it is stopped. Any number of processes do so at once, each with what it has claimed. A stop
 * lets what is under way finish, which takes an attempt's time at the most.
 */
export function startSender(ctx: Context, { attemptMs = ATTEMPT_MS }: { attemptMs?: number } = {}): Loop {
  const outbound = openOutbound({ policy: ctx.outbound, clock: ctx.clock })
  const underWay = new Map<string, Attempt>()
  const bell = createBell()

  const begin = (claimed: ClaimedDelivery): void => {
    const key = `${claimed.delivery.accountId} ${claimed.delivery.id}`
    const running = underWay.get(key)
    if (running !== undefined) {
      // Its lease ended early, by a clock that was moved: what is under way counts for the new one.
      running.claimed = claimed
      return
    }
    const done = carryOut(ctx, { outbound, attemptMs, claimed, latest: () => underWay.get(key)?.claimed ?? claimed })
    const ended = done.finally(() => {
      underWay.delete(key)
      bell.ring()
    })
    underWay.set(key, { claimed, done: ended })
  }

  const round = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const limit = Math.min(IN_FLIGHT_MAX - underWay.size, CLAIM_MAX)
      const claimed = limit === 0 ? [] : await claim(ctx, limit)
      if (signal.aborted) return await releaseDeliveries(ctx, claimed)
      for (const one of claimed) begin(one)
      if (underWay.size === 0) return
      // A whole batch means that there is more. Else an attempt that ends makes room, or time makes something due.
      if (claimed.length < CLAIM_MAX) await bell.wait(POLL_MS)
    }
  }
  const loop = startLoop({ name: 'send-webhooks', intervalMs: POLL_MS, logger: ctx.logger }, round)

  return {
    async stop() {
      const stopped = loop.stop()
      bell.ring()
      await stopped
      await Promise.all([...underWay.values()].map(({ done }) => done))
      outbound.close()
    },
  }
}

async function claim(ctx: Context, limit: number): Promise<readonly ClaimedDelivery[]> {
  return await claimDeliveries(ctx, { endpointInFlightMax: ENDPOINT_IN_FLIGHT_MAX, limit, leaseMs: LEASE_MS })
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
