import { startTcpProxy, type Tap, type TcpProxy } from '../wires/tcp-proxy.ts'

/** A proxy in front of PostgreSQL that can hold back one statement, or the response to it. */
export interface StatementGate extends TcpProxy {
  /**
   * Holds back the next statement that contains `marker` (for example, its name), or PostgreSQL's response to it. What
   * is held back is never passed on, and is lost when its connection ends.
   */
  hold(marker: string, side: 'request' | 'answer'): { readonly held: Promise<void> }
}

interface Order {
  readonly marker: string
  readonly side: 'request' | 'answer'
  readonly reached: () => void
}

export async function startStatementGate(databaseUrl: string): Promise<StatementGate> {
  let order: Order | null = null

  function openTap(): Tap {
    let blocked: 'request' | 'answer' | null = null
    let reached = (): void => undefined
    return {
      toServer(chunk, pass) {
        if (order !== null && chunk.includes(order.marker)) {
          blocked = order.side
          reached = order.reached
          order = null
          if (blocked === 'request') reached()
        }
        if (blocked !== 'request') pass(chunk)
      },
      toClient(chunk, pass) {
        if (blocked === 'answer') reached()
        else pass(chunk)
      },
    }
  }

  const proxy = await startTcpProxy(databaseUrl, openTap)
  return {
    ...proxy,
    hold(marker, side) {
      const { promise: held, resolve: reached } = Promise.withResolvers<void>()
      order = { marker, side, reached }
      return { held }
    },
  }
}
