import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { Context } from '../domain/context.ts'
import { BYTES, POOLS, SENDER_PLACES, type PoolName } from '../lib/pools.ts'

const POOL_NAMES = Object.keys(POOLS) as PoolName[]
const BYTES_NAMES = Object.keys(BYTES) as (keyof typeof BYTES)[]
const MS_PER_SECOND = 1_000

/**
 * Registers how much is used of everything that the process shares out (D91), how many requests were turned away, and
 * how far the clock differs from the enclave's. Returns a function that sets these metrics.
 */
export function addLimitMetrics(
  registry: Registry,
  ctx: Pick<Context, 'pools' | 'enclave' | 'clock'>,
  gate: { readonly turnedAway: number },
) {
  const registers = [registry]
  const places = new Gauge({
    name: 'bursar_pool_places',
    help: 'How many places a pool has in this process',
    labelNames: ['pool'],
    registers,
  })
  const taken = new Gauge({
    name: 'bursar_pool_places_taken',
    help: 'How many places of a pool are taken',
    labelNames: ['pool'],
    registers,
  })
  const waiting = new Gauge({
    name: 'bursar_pool_waiting',
    help: 'How much work waits for a place of a pool',
    labelNames: ['pool'],
    registers,
  })
  const rejected = new Counter({
    name: 'bursar_pool_rejected_total',
    help: 'How much work found no place in a pool',
    labelNames: ['pool'],
    registers,
  })
  const bytes = new Gauge({
    name: 'bursar_held_bytes',
    help: 'Bytes that the process keeps for clients, apart for known credentials and strangers',
    labelNames: ['kind', 'callers'],
    registers,
  })
  const bytesMax = new Gauge({
    name: 'bursar_held_bytes_max',
    help: 'How many such bytes it keeps at most, for known credentials, and as many again for strangers',
    labelNames: ['kind'],
    registers,
  })
  const senderPlaces = new Gauge({
    name: 'bursar_webhook_attempts_max',
    help: 'How many attempts to send webhooks can be in progress in this process, by the pool of the sender',
    labelNames: ['pool'],
    registers,
  })
  const turnedAway = new Counter({
    name: 'bursar_http_requests_turned_away_total',
    help: 'Requests that were turned away because the process had too much work; they are also counted as 503',
    registers,
  })
  const skew = new Gauge({
    name: 'bursar_enclave_clock_skew_seconds',
    help: "How far the enclave's clock is ahead of this process's clock, by its last response",
    registers,
  })
  for (const name of BYTES_NAMES) bytesMax.set({ kind: name }, BYTES[name])
  senderPlaces.set({ pool: 'prompt' }, SENDER_PLACES.promptWebhooks)
  senderPlaces.set({ pool: 'hanging' }, SENDER_PLACES.hangingWebhooks)

  return (): void => {
    rejected.reset()
    for (const name of POOL_NAMES) {
      const pool = ctx.pools[name]
      places.set({ pool: name }, pool.placesMax)
      taken.set({ pool: name }, pool.taken)
      waiting.set({ pool: name }, pool.waiting)
      rejected.inc({ pool: name }, pool.rejected)
    }
    for (const name of BYTES_NAMES) {
      bytes.set({ kind: name, callers: 'known' }, ctx.pools[name].known.bytes)
      bytes.set({ kind: name, callers: 'strangers' }, ctx.pools[name].strangers.bytes)
    }
    turnedAway.reset()
    turnedAway.inc(gate.turnedAway)
    const now = ctx.clock.now()
    skew.set((ctx.enclave.toEnclaveTime(now).getTime() - now.getTime()) / MS_PER_SECOND)
  }
}
