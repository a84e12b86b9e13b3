import { startTcpProxy } from '../wires/tcp-proxy.ts'

/** A connection to PostgreSQL that counts how often its client has waited for a response. */
export interface RoundTripCounter {
  readonly url: string
  /**
   * Round trips since the start. Everything that is sent before the next answer counts as one round trip, even on
   * several connections.
   */
  count(): number
  close(): Promise<void>
}

/** Far longer than one turn of the event loop, so that everything that is sent together is counted together. */
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
