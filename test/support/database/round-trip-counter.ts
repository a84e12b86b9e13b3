import { startTcpProxy } from '../wires/tcp-proxy.ts'

/** A proxy in front of PostgreSQL that counts how often its client has waited for a response. */
export interface RoundTripCounter {
  readonly url: string
  /**
   * Returns the number of round trips since the start. If several messages are sent before the next response arrives,
   * they are one round trip, even on different connections.
   */
  count(): number
  close(): Promise<void>
}

/**
 * The delay of each message. It is far longer than one turn of the event loop, so that messages sent in the same turn
 * are counted as one round trip.
 */
const LATENCY_MS = 3

export async function startRoundTripCounter(databaseUrl: string): Promise<RoundTripCounter> {
  let trips = 0
  let isUnderWay = false
  const proxy = await startTcpProxy(databaseUrl, () => ({
    toServer(chunk, pass) {
      if (!isUnderWay) trips += 1
      isUnderWay = true
      setTimeout(() => pass(chunk), LATENCY_MS)
    },
    toClient(chunk, pass) {
      isUnderWay = false
      pass(chunk)
    },
  }))
  return { url: proxy.url, count: () => trips, close: () => proxy.close() }
}
