import { setTimeout as delay } from 'node:timers/promises'
import { request as sendHttp } from 'node:http'
import type { LoadRequest } from './load.ts'

/** Clients that send a steady number of requests, each over a new connection. They run in a process of their own. */
export interface NewcomersOrder {
  readonly url: string
  readonly perSecond: number
  readonly seconds: number
  readonly requests: readonly LoadRequest[]
}

export interface NewcomersFigures {
  /** The times from opening a connection to the end of its response, in milliseconds. */
  readonly servedMs: readonly number[]
  /** The number of responses with a status other than 200, and of requests without a response. */
  readonly failed: number
}

/** A client gives up after this time. */
const TIMEOUT_MS = 20_000

async function sendAll({ url, perSecond, seconds, requests }: NewcomersOrder): Promise<NewcomersFigures> {
  const servedMs: number[] = []
  let failed = 0
  const sendOne = async (request: LoadRequest): Promise<void> => {
    const started = performance.now()
    const isServed = await send(url, request).catch(() => false)
    if (isServed) servedMs.push(performance.now() - started)
    else failed += 1
  }
  const sending: Promise<void>[] = []
  for (const request of requests.slice(0, perSecond * seconds)) {
    sending.push(sendOne(request))
    await delay(1_000 / perSecond)
  }
  await Promise.all(sending)
  return { servedMs, failed }
}

async function send(url: string, { method, path, headers }: LoadRequest): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const outgoing = sendHttp(
      new URL(path, url),
      { agent: false, method, headers, timeout: TIMEOUT_MS },
      (incoming) => {
        incoming.once('end', () => resolve(incoming.statusCode === 200))
        incoming.once('error', reject)
        incoming.resume()
      },
    )
    outgoing.once('timeout', () => outgoing.destroy(new Error('no response')))
    outgoing.once('error', reject)
    outgoing.end()
  })
}

process.on('disconnect', () => process.exit(0))
process.on('message', (order: NewcomersOrder) => {
  void sendAll(order).then((figures) => process.send?.(figures))
})
process.send?.({ ready: true })
