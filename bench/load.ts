import autocannon from 'autocannon'

/**
 * The requests that the parent process wants to be sent. This file runs in a separate process, and sends them as fast
 * as possible.
 */
export interface LoadOrder {
  readonly url: string
  readonly connections: number
  /** The run ends after this time, or after this number of requests. Exactly one of the two is given. */
  readonly seconds?: number
  readonly amount?: number
  readonly requests: readonly LoadRequest[]
}

export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
  /**
   * If given, the body is this form with a refresh token. The first request sends `first`. Every later request, also in
   * later runs, sends the refresh token of the previous response.
   */
  readonly rotate?: { readonly form: Record<string, string>; readonly first: string }
}

export interface LoadFigures {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly succeeded: number
  /** The number of responses other than 2xx, and of requests without a response. */
  readonly failed: number
  /** The status of one failed response, if there was one. */
  readonly failure?: string
}

/** For autocannon, a run that ends after a number of requests still needs a duration. This is its upper limit. */
const AMOUNT_SECONDS_MAX = 50

/** Maps the first refresh token of each `rotate` to its newest refresh token. */
const newest = new Map<string, string>()

/**
 * Sends the requests and returns the figures. Each connection has its own share of the requests, so that two
 * connections never use the same API key or refresh token at once.
 */
async function run(order: LoadOrder): Promise<LoadFigures> {
  const connections = Math.min(order.connections, order.requests.length)
  let next = 0
  let failure: string | undefined
  const started = performance.now()
  const result = await autocannon({
    url: order.url,
    connections,
    duration: order.seconds ?? AMOUNT_SECONDS_MAX,
    ...(order.amount === undefined ? {} : { amount: order.amount }),
    setupClient: (client) => {
      const share = order.requests.filter((_, index) => index % connections === next).map(toRequest)
      next = (next + 1) % connections
      client.setRequests(share)
      client.on('response', (status) => {
        if (status < 200 || status >= 300) failure ??= `status ${status}`
      })
    },
  })
  const seconds = order.amount === undefined ? result.duration : (performance.now() - started) / 1_000
  return {
    perSecond: result['2xx'] / seconds,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    succeeded: result['2xx'],
    failed: result.non2xx + result.errors + result.timeouts,
    ...(failure === undefined ? {} : { failure }),
  }
}

function toRequest({ rotate, ...request }: LoadRequest): autocannon.Request {
  if (rotate === undefined) return request
  return {
    ...request,
    setupRequest: (template) => {
      const token = newest.get(rotate.first) ?? rotate.first
      return { ...template, body: new URLSearchParams({ ...rotate.form, refresh_token: token }).toString() }
    },
    onResponse: (status, body) => {
      if (status !== 200) return
      newest.set(rotate.first, (JSON.parse(body) as { refresh_token: string }).refresh_token)
    },
  }
}

/** Adds the figures of runs that took place at the same time. The percentiles are those of the slowest run. */
function combine(runs: readonly LoadFigures[]): LoadFigures {
  const sum = (read: (figures: LoadFigures) => number): number => runs.reduce((total, one) => total + read(one), 0)
  const failure = runs.find((one) => one.failure !== undefined)?.failure
  return {
    perSecond: sum((one) => one.perSecond),
    p50Ms: Math.max(...runs.map((one) => one.p50Ms)),
    p99Ms: Math.max(...runs.map((one) => one.p99Ms)),
    succeeded: sum((one) => one.succeeded),
    failed: sum((one) => one.failed),
    ...(failure === undefined ? {} : { failure }),
  }
}

process.on('disconnect', () => process.exit(0))
process.on('message', (orders: LoadOrder[]) => {
  void Promise.all(orders.map(run)).then((figures) => process.send?.(combine(figures)))
})
process.send?.({ ready: true })
