import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openX402Client } from '../sandbox/test/support/x402-client.ts'
import { openPurchaseFixture } from '../test/support/faults/run-purchases.ts'
import { call } from '../test/support/http-client.ts'
import { createPayer, makeKeys } from '../test/support/sandbox/payer-fixture.ts'
import { createResource } from '../test/support/sandbox/seller.ts'

/**
 * `npm run bench:purchase-time [-- purchases]` measures the time from request to goods, in a sandbox of its own. It buys
 * the same resource alternately by `POST /v1/x402/pay` and by the client of the x402 project with a local key.
 */
const PURCHASES = 60
/** A key may pay 30 times a minute. */
const PURCHASES_PER_KEY = 25

const [purchases = PURCHASES] = process.argv.slice(2).map(Number)
const { fixture, close } = await openPurchaseFixture()
try {
  const payer = await createPayer(fixture, { grant: { x402: true } })
  const keys = await makeKeys(fixture, payer, Math.ceil(purchases / PURCHASES_PER_KEY))
  const local = privateKeyToAccount(generatePrivateKey())
  await fixture.control('/faucet', { mode: 'test', address: local.address, amount_usdc: '100' })
  const paidFetch = openX402Client(local, fixture.sandbox.facts.chains.test.id)
  const { url } = await createResource(fixture, { price_usdc: '0.01' })
  const [ours, theirs, unpaid]: [number[], number[], number[]] = [[], [], []]
  for (let index = 0; index < purchases; index += 1) {
    const key = keys[Math.floor(index / PURCHASES_PER_KEY)] ?? payer.key
    const terms = { agent_id: payer.agentId, wallet: payer.wallet, max_amount_usdc: '0.01' }
    const body = { url, ...terms, idempotency_key: `purchase-${index}` }
    unpaid.push(await time(async () => (await fetch(url)).status, 402))
    ours.push(await time(async () => (await call(fixture.baseUrl, 'POST', '/v1/x402/pay', { key, body })).status, 200))
    theirs.push(await time(async () => (await paidFetch(url)).status, 200))
  }
  say('ms, p50 and p99', '')
  say('the seller’s answer without a payment', describe(unpaid))
  say('POST /v1/x402/pay', describe(ours))
  say('@x402/fetch with a local key', describe(theirs))
} finally {
  await close()
}

async function time(work: () => Promise<number>, status: number): Promise<number> {
  const started = performance.now()
  const answered = await work()
  if (answered !== status) throw new Error(`the answer has the status ${answered}`)
  return performance.now() - started
}

function describe(durations: readonly number[]): string {
  const sorted = durations.toSorted((one, other) => one - other)
  const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(0)
  return `${at(0.5)} ${at(0.99)}`
}

function say(what: string, figures: string): void {
  process.stdout.write(`${what.padEnd(40)} ${figures}\n`)
}
