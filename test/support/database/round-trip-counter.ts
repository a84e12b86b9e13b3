import { startTcpProxy } from '../wires/tcp-proxy.ts'

/** A wire to PostgreSQL that counts how often its client waited for an answer before it went on. */
export interface RoundTripCounter {
  readonly url: string
  /** Round trips since the start: what is sent before the next answer arrives is one, on however many connections. */
  count(): number
  close(): Promise<void>
}

/** Far more than one turn of the event loop: what was sent together is counted together. */
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
