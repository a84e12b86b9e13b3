import { createServer, request as openRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openX402Client } from '../sandbox/test/support/x402-client.ts'
import { openPurchaseFixture } from '../test/support/faults/run-purchases.ts'
import { call } from '../test/support/http-client.ts'
import { createPayer, makeKeys } from '../test/support/sandbox/payer-fixture.ts'
import { createResource } from '../test/support/sandbox/seller.ts'

/**
 * `npm run bench:purchase-time [-- purchases]` measures the time from request to goods, in a sandbox of its own. It
 * buys the same resource alternately by `POST /v1/x402/pay` and by the client of the x402 project with a local key. A
 * proxy in front of the seller notes when each request arrives and when it is answered. The time of each step follows
 * from these times.
 */
const PURCHASES = 60
/** Fewer than the 30 purchases that a key may make in a minute. */
const PURCHASES_PER_KEY = 25

/** The steps of a purchase, in their order. */
const STEPS = [
  'until the seller is asked for the price',
  'the seller’s answer 402',
  'reserve, sign, store the header',
  'verify and settle, until the seller answers',
  'until the buyer has the goods',
] as const

/** A request that passed the proxy: when it arrived, and when its answer was complete. */
interface Visit {
  readonly arrivedMs: number
  answeredMs: number
}

const visits: Visit[] = []
const [purchases = PURCHASES] = process.argv.slice(2).map(Number)
const { fixture, close } = await openPurchaseFixture()
try {
  const payer = await createPayer(fixture, { grant: { x402: true } })
  const keys = await makeKeys(fixture, payer, Math.ceil(purchases / PURCHASES_PER_KEY))
  const local = privateKeyToAccount(generatePrivateKey())
  await fixture.control('/faucet', { mode: 'test', address: local.address, amount_usdc: '100' })
  const paidFetch = openX402Client(local, fixture.sandbox.facts.chains.test.id)
  const resource = new URL((await createResource(fixture, { price_usdc: '0.01' })).url)
  const proxy = createServer((request, response) => forward(request, response, resource.port))
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://localhost:${(proxy.address() as AddressInfo).port}${resource.pathname}`
  const [ours, theirs]: [number[][], number[][]] = [[], []]
  try {
    for (let index = 0; index < purchases; index += 1) {
      const key = keys[Math.floor(index / PURCHASES_PER_KEY)] ?? payer.key
      const terms = { agent_id: payer.agentId, wallet: payer.wallet, max_amount_usdc: '0.01' }
      const body = { url, ...terms, idempotency_key: `purchase-${index}` }
      ours.push(await time(async () => (await call(fixture.baseUrl, 'POST', '/v1/x402/pay', { key, body })).status))
      theirs.push(
        await time(async () => {
          const answer = await paidFetch(url)
          await answer.arrayBuffer()
          return answer.status
        }),
      )
    }
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
  say('ms, p50 and p99', 'POST /v1/x402/pay', '@x402/fetch, local key')
  say('all', describe(ours.map(sum)), describe(theirs.map(sum)))
  for (const [index, step] of STEPS.entries()) {
    const of = (all: readonly number[][]): string => describe(all.map((steps) => steps[index] ?? Number.NaN))
    say(step, of(ours), of(theirs))
  }
} finally {
  await close()
}

function forward(request: IncomingMessage, response: ServerResponse, port: string): void {
  const visit: Visit = { arrivedMs: performance.now(), answeredMs: Number.NaN }
  visits.push(visit)
  const { method, url, headers } = request
  const sent = openRequest({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
    answer.pipe(response)
    answer.on('end', () => (visit.answeredMs = performance.now()))
  })
  sent.on('error', () => response.destroy())
  request.pipe(sent)
}

/** Returns how long each of the steps took. */
async function time(work: () => Promise<number>): Promise<number[]> {
  visits.length = 0
  const startedMs = performance.now()
  const status = await work()
  const endedMs = performance.now()
  const [asked, paid, ...more] = visits
  if (status !== 200 || asked === undefined || paid === undefined || more.length > 0) {
    throw new Error(`status ${status} after ${visits.length} requests`)
  }
  const times = [startedMs, asked.arrivedMs, asked.answeredMs, paid.arrivedMs, paid.answeredMs, endedMs]
  return times.slice(1).map((timeMs, index) => timeMs - (times[index] ?? Number.NaN))
}

function sum(steps: readonly number[]): number {
  return steps.reduce((total, step) => total + step, 0)
}

function describe(durations: readonly number[]): string {
  const sorted = durations.toSorted((one, other) => one - other)
  const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(1)
  return `${at(0.5)} ${at(0.99)}`
}

function say(what: string, ...figures: readonly string[]): void {
  process.stdout.write(`${what.padEnd(46)} ${figures.map((text) => text.padEnd(20)).join(' ')}\n`)
}
