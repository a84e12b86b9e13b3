import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** This process receives webhooks. It records each event, and responds at once. */
export interface Arrivals {
  readonly posts: number
  /** The number of different events. An event that arrives at two paths counts as two. */
  readonly unique: number
  readonly p50Ms: number
  readonly p99Ms: number
}

interface Envelope {
  readonly id: string
  readonly created_at: string
}

let posts = 0
let unique = new Set<string>()
/** How long each event took from its creation to its arrival. */
let delaysMs: number[] = []

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const path = request.url ?? ''
    const arrivedAt = Date.now()
    const { id, created_at: createdAt } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Envelope
    posts += 1
    const key = `${path} ${id}`
    if (!unique.has(key)) delaysMs.push(arrivedAt - Date.parse(createdAt))
    unique.add(key)
    response.writeHead(204).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit(0))
process.on('message', (message: { reset?: true }) => {
  const sorted = delaysMs.toSorted((left, right) => left - right)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
  const arrivals: Arrivals = { posts, unique: unique.size, p50Ms: at(0.5), p99Ms: at(0.99) }
  if (message.reset === true) {
    posts = 0
    unique = new Set()
    delaysMs = []
  }
  process.send?.(arrivals)
})
