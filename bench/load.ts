import autocannon from 'autocannon'

/**
 * A run that the parent process requests. This file runs in a separate process, and sends the requests of the run as
 * fast as possible.
 */
export interface LoadOrder {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  readonly requests: readonly { method: 'GET' | 'POST'; path: string; headers: Record<string, string>; body?: string }[]
}

export interface LoadFigures {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly succeeded: number
  /** The number of responses other than 2xx, and of requests without a response. */
  readonly failed: number
}

/**
 * Sends the requests and returns the figures. Each connection has its own share of the requests, so that two
 * connections never use the same API key at once.
 */
async function run(order: LoadOrder): Promise<LoadFigures> {
  let next = 0
  const result = await autocannon({
    url: order.url,
    connections: Math.min(order.connections, order.requests.length),
    duration: order.seconds,
    setupClient: (client) => {
      const share = order.requests.filter((_, index) => index % order.connections === next)
      next = (next + 1) % order.connections
      client.setRequests([...(share.length === 0 ? order.requests : share)])
    },
  })
  return {
    perSecond: result['2xx'] / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    succeeded: result['2xx'],
    failed: result.non2xx + result.errors + result.timeouts,
  }
}

process.on('disconnect', () => process.exit(0))
process.on('message', (order: LoadOrder) => {
  void run(order).then((figures) => process.send?.(figures))
})
