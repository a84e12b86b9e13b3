import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { DEFAULT_CHAINS } from '../server/src/values/chains.ts'
import { startFakeChain, type FakeChain } from '../test/support/wires/fake-chain.ts'
import { startFakeEnclave } from '../test/support/wires/fake-enclave.ts'
import { postPayment, shareOrders } from './cases/requests.ts'
import type { LoadFigures } from './load.ts'
import { readClusterUs, readProcessorUs } from './processor-time.ts'
import { say } from './report.ts'
import { openWorld, type Endpoint } from './world.ts'

/**
 * `npm run bench:cell [-- wallets]` measures what a cell costs while nothing is paid, and what a payment costs from its
 * request until it is confirmed: processor time, PostgreSQL's write-ahead log, disk, and calls to the chain. It takes
 * three minutes. What the other process costs contains PostgreSQL's time for both processes. `npm run simulate:cells` computes with these figures.
 */
const WALLETS = Number(process.argv[2] ?? 4_000)
const TRANSFERS_PER_BLOCK = 300
const BLOCK_MS = 2_000
/** Older transfers are forgotten: no reader asks for them. */
const BLOCKS_KEPT = 70
const START_MS = 10_000
/** A minute, in which every job that calls the chain has a round. */
const IDLE_MS = 62_000
const IDLE_PROCESS_MS = 15_000
const WARM_UP_PAYMENTS = 500
const PACED_PAYMENTS = 450
/** 30 payments in a second: what one cell of a hundred has in its busiest minute. */
const PACE_MS = 1_000 / 30
const GATHERED_PAYMENTS = 2_000
const SETTLED_MS_MAX = 30_000
const RECIPIENT = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const USDC = DEFAULT_CHAINS.test.usdc as `0x${string}`

const world = await openWorld({ targets: WALLETS })
const [enclave, test, live] = await Promise.all([startFakeEnclave(), startFakeChain(84532), startFakeChain(8453)])
const admin = new pg.Client({ connectionString: world.databaseUrl })
await admin.connect()
test.startSeconds = live.startSeconds = BigInt(Math.floor(Date.now() / 1_000))
// The fake chain is slow at filtering by address, and none of the transfers belongs to a wallet of ours.
test.intercept = ({ method, params }) =>
  method === 'eth_getLogs' && (params[0] as { topics: unknown[] }).topics.slice(1).some(Array.isArray) ? [] : undefined
const blocks = setInterval(mineBlock, BLOCK_MS)
try {
  const environment = { PRIVY_API_URL: enclave.url, TEST_RPC_URLS: test.url, LIVE_RPC_URLS: live.url }
  const server = await world.startServer({ ...environment, ROLE: 'all' })
  await delay(START_MS)
  const idle = await measure(`a second of a cell with ${WALLETS} wallets, without payments`, server, async () => {
    await delay(IDLE_MS)
    return IDLE_MS / 1_000
  })
  const other = await world.startServer({ ...environment, ROLE: 'api' })
  await delay(START_MS)
  await measure('a second of another process, which only waits for requests', other, async () => {
    await delay(IDLE_PROCESS_MS)
    return IDLE_PROCESS_MS / 1_000
  })
  await payGathered(server, WARM_UP_PAYMENTS)
  await measure('a payment, of 30 in a second', server, () => payPaced(server), idle)
  const before = await readSizes()
  await measure('a payment, of as many as are possible', server, () => payGathered(server, GATHERED_PAYMENTS), idle)
  for (const [table, bytes] of await readSizes())
    say(`${table}: ${Math.round((bytes - (before.get(table) ?? 0)) / GATHERED_PAYMENTS)} bytes a payment`)
} finally {
  clearInterval(blocks)
  await admin.end()
  await world.close()
  await Promise.all([enclave.close(), test.close(), live.close()])
}

/** Adds a block to both chains. In test mode, it has transfers of others and those that the enclave has accepted. */
function mineBlock(): void {
  for (const { referenceId, walletId } of enclave.requests.splice(0)) {
    // The seeded wallets have their address as their id at the enclave.
    const transfer = {
      contract: USDC,
      from: walletId.toLowerCase() as `0x${string}`,
      to: RECIPIENT,
      amountMicro: 1n,
    } as const
    const hash = `0x${createHash('sha256').update(referenceId).digest('hex')}`
    test.receipts.set(hash, { ...transfer, blockNumber: test.head + 1n })
  }
  live.head += 1n
  test.head += 1n
  for (let index = 0; index < TRANSFERS_PER_BLOCK; index += 1) addTransfer(test)
  if (test.logs.length > TRANSFERS_PER_BLOCK * BLOCKS_KEPT) test.logs.splice(0, TRANSFERS_PER_BLOCK)
}

function addTransfer({ logs, head: blockNumber }: FakeChain): void {
  const hex = (bytes: number): `0x${string}` => `0x${randomBytes(bytes).toString('hex')}`
  logs.push({ contract: USDC, from: hex(20), to: hex(20), amountMicro: 1n, txHash: hex(32), blockNumber })
}

type Costs = ReadonlyMap<string, number>

/**
 * Measures `work`, and prints what one of the things costs whose number it returns. What `idle` costs in the same time
 * is not theirs. Returns what was printed.
 */
async function measure(
  name: string,
  { process: { child } }: Endpoint,
  work: () => Promise<number>,
  idle: Costs = new Map(),
): Promise<Costs> {
  const read = async (): Promise<Costs> => {
    const { rows } = await admin.query<{ wal: string }>(`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal`)
    return new Map([
      ['µs of the process', (await readProcessorUs([child.pid])) ?? Number.NaN],
      ['µs of PostgreSQL', (await readClusterUs(world.postmaster)) ?? Number.NaN],
      ['bytes of write-ahead log', Number(rows[0]?.wal)],
      ['calls to the test chain', test.calls],
      ['HTTP requests to its node', test.requests],
      ['calls to the live chain', live.calls],
    ])
  }
  const before = await read()
  const start = performance.now()
  const count = await work()
  const seconds = (performance.now() - start) / 1_000
  const costs = new Map(
    [...(await read())].map(([unit, value]) => {
      const used = value - (before.get(unit) ?? 0) - (idle.get(unit) ?? 0) * seconds
      return [unit, used / count] as const
    }),
  )
  say(`${name}: ${[...costs].map(([unit, value]) => `${value.toFixed(1)} ${unit}`).join(', ')}`)
  return costs
}

async function payPaced({ url }: Endpoint): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: PACED_PAYMENTS }, async (_, index) => {
      await delay(index * PACE_MS)
      const target = world.targets[index % world.targets.length]
      if (target === undefined) throw new Error('there is no workspace')
      const { path, ...request } = postPayment(target)
      const response = await fetch(`${url}${path}`, request)
      await response.text()
      return response.status
    }),
  )
  const succeeded = statuses.filter((status) => status === 201).length
  if (succeeded < PACED_PAYMENTS) say(`${PACED_PAYMENTS - succeeded} of ${PACED_PAYMENTS} payments were not made`)
  await waitUntilSettled()
  return succeeded
}

async function payGathered(server: Endpoint, amount: number): Promise<number> {
  const orders = shareOrders([server], world.targets.map(postPayment), { amount })
  const { succeeded, failed, failure } = await world.load.ask<LoadFigures>(orders)
  if (failed > 0) say(`${failed} of ${amount} payments were not made: ${failure ?? 'no response'}`)
  await waitUntilSettled()
  return succeeded
}

async function waitUntilSettled(): Promise<void> {
  const late = AbortSignal.timeout(SETTLED_MS_MAX)
  for (;;) {
    const { rows } = await admin.query<{ left: boolean }>(
      `select exists (select from payments where status = 'pending') as left`,
    )
    if (rows[0]?.left === false) return
    if (late.aborted) throw new Error('payments are still pending')
    await delay(BLOCK_MS / 4)
  }
}

/** The sizes of the tables of payments and events, with their indexes. */
async function readSizes(): Promise<ReadonlyMap<string, number>> {
  const { rows } = await admin.query<{ table: string; bytes: string }>(
    `select name as table, pg_total_relation_size(name) as bytes from unnest('{payments,events}'::regclass[]) name`,
  )
  return new Map(rows.map(({ table, bytes }) => [table, Number(bytes)]))
}
