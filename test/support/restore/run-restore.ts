import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { checkpointFile } from '../../../sandbox/src/state/data-dir-layout.ts'
import { createRandom } from '../faults/random.ts'
import { call, type JsonAnswer } from '../http-client.ts'
import { runProgram } from '../sandbox/run-program.ts'
import type { ChainTransfer } from '../sandbox/usdc-chain.ts'
import { signInNewOwner } from '../sandbox/withdrawer-fixture.ts'
import { checkRestore, type RestoreReport } from './check-restore.ts'
import { backUpDatabase } from './database-backup.ts'
import { isMpp, type Buyer, type Order, type PaymentRequest } from './order.ts'
import type { RestoreFixture } from './restore-fixture.ts'
import { prepareScene, type Group, type Scene, type SceneOptions } from './scene.ts'

export interface RestoreRunOptions extends SceneOptions {
  /** How many clients repeat their requests at the same time. */
  readonly clients: number
  readonly seed: number
  /**
   * Whether the server runs on while the database is replaced, as if a standby had been promoted that lacks the last
   * transactions.
   */
  readonly isServerKept?: boolean
  /** Whether the operator runs the command `after-restore`, and the owners confirm their keys, before the clients begin. */
  readonly isCommandRun?: boolean
  readonly onProgress?: (line: string) => void
}

const COMMAND = 'server/src/after-restore/main.ts'
const RETRY_MS = 250
/** How long a client repeats a request until it has a final answer. */
const ANSWER_MS_MAX = 120_000
const SETTLED_MS_MAX = 120_000
/** After this time, a request of an earlier attempt to pay has expired. */
const ATTEMPT_SECONDS = 15
/** For one in this many lost orders, other clients use its key for other payments. */
const ORDERS_PER_OTHER = 3

/**
 * Makes payments of all kinds, restores the database as it was before the last of them, and lets clients repeat all
 * requests at once. The chains and the enclave keep what they know. Afterwards, compares the chain with the answers and
 * with the service's records.
 */
export async function runRestore(fixture: RestoreFixture, options: RestoreRunOptions): Promise<RestoreReport> {
  const { clients, isServerKept = false, isCommandRun = false, onProgress = () => undefined } = options
  const scene = await prepareScene(fixture, options)
  const kept = [...scene.kept, ...scene.groups.flatMap(({ capped }) => capped.flatMap((one) => one.kept))]
  await work(
    kept.map((order) => () => makeFirst(order)),
    clients,
  )
  onProgress(`${kept.length} payments before the backup`)

  await fixture.sandbox.killServer('SIGTERM')
  const backup = await backUpDatabase(fixture.databaseUrl)
  await fixture.sandbox.startServer()
  const lost = scene.groups.flatMap(listLost)
  await makeSecondAttempts(
    fixture,
    lost.filter(({ kind }) => kind === 'second_attempt'),
  )
  const others = lost.filter(({ kind }) => kind !== 'second_attempt')
  await work(
    others.map((order) => () => makeFirst(order)),
    clients,
  )
  onProgress(`${lost.length} payments after the backup`)

  if (!isServerKept) await fixture.sandbox.killServer('SIGKILL')
  await backup.restore()
  // With the file, the server would not start before the command was run, and this is about a server that does.
  await rm(checkpointFile(fixture.dataDir))
  if (!isServerKept) await fixture.sandbox.startServer()
  onProgress('restored')
  if (isCommandRun) await runCommand(scene)
  for (const group of scene.groups) await repeatGroup(scene, group, options)
  onProgress('repeated')
  const isSettled = await waitUntilSettled(scene)
  await fixture.control('/enclave/references', { repeated: 'collide' })
  const { counts, violations } = await checkRestore(scene, await listTransfers(fixture, scene.buyers))
  return { counts, violations: [...(isSettled ? [] : ['the records do not show what the chain shows']), ...violations] }
}

/**
 * Runs the command `after-restore`. It ends all sessions and holds all keys, so new owners sign in and confirm the keys.
 */
async function runCommand({ fixture, buyers }: Scene): Promise<void> {
  const { exitCode, output } = await runProgram(COMMAND, { args: ['--yes'], env: fixture.environment() })
  if (exitCode !== 0) throw new Error(output)
  for (const { takeKey, slug, withdrawer } of buyers) {
    const held = await call(fixture.baseUrl, 'GET', '/v1/me', { key: takeKey() })
    if (held.body.error.code !== 'key_held') throw new Error(`the key is not held: ${held.text}`)
    await signInNewOwner(fixture, slug, withdrawer.browser)
    const path = withdrawer.at('held-keys')
    const { keys } = await withdrawer.browser.ask<{ keys: readonly { id: string }[] }>('GET', path)
    await withdrawer.browser.ask('POST', path, { confirm: keys.map(({ id }) => id) })
  }
}

async function repeatGroup(scene: Scene, group: Group, { clients, seed }: RestoreRunOptions): Promise<void> {
  const { fixture } = scene
  await fixture.control('/enclave/references', { repeated: group.references })
  if (group.answers === 'gone') await fixture.control('/enclave/forget-answers')
  await work(shuffle(makeJobs(scene, group), seed), clients)
  await passLostAuthorizations(scene)
  const late = [...listLost(group).filter(isMpp), ...group.fresh]
  await work(
    late.map((order) => () => repeat(scene, order)),
    clients,
  )
}

function listLost({ lost, capped }: Group): readonly Order[] {
  return [...lost, ...capped.flatMap((one) => one.lost)]
}

/** Makes orders whose first attempt fails at the enclave. */
async function makeSecondAttempts(fixture: RestoreFixture, orders: readonly Order[]): Promise<void> {
  if (orders.length === 0) return
  await fixture.control('/enclave/faults', { fault: 'unavailable', count: orders.length })
  const first = await Promise.all(orders.map(({ send }) => send()))
  for (const { status, text } of first) {
    if (status !== 500) throw new Error(`the first attempt has not failed: ${text}`)
  }
  // Until then, the request of the first attempt could still arrive.
  await fixture.advanceClock(ATTEMPT_SECONDS)
  await Promise.all(orders.map(makeFirst))
}

/** Makes an order for the first time, as a client that repeats the request until it knows the outcome. */
async function makeFirst(order: Order): Promise<void> {
  const answer = await sendUntilFinal(order.send, { isRepeatable: order.isRepeatable, mayWait: false })
  const { delivery = 'delivered' } = JSON.parse(answer?.text ?? '{}') as { readonly delivery?: string }
  if (answer === null || answer.status >= 300 || delivery !== 'delivered') {
    throw new Error(`${order.kind}: ${answer?.text ?? 'no answer'}`)
  }
}

/** Sends the order, or another request with its key, after the restore. Keeps the answer. */
async function repeat({ replies }: Scene, order: Order, request: PaymentRequest = order): Promise<void> {
  const answer = await sendUntilFinal(request.send, { isRepeatable: true, mayWait: isMpp(order) })
  replies.set(order, [...(replies.get(order) ?? []), { answer, isOther: request !== order }])
}

/**
 * Returns what the clients of a group do: repeat each request twice, use some keys for other payments, and spend more
 * than what is left of the small limits. The first group also repeats what the backup has.
 */
function makeJobs(scene: Scene, group: Group): (() => Promise<void>)[] {
  const jobs: (() => Promise<void>)[] = []
  const kept = [...(group === scene.groups[0] ? scene.kept : []), ...group.capped.flatMap((one) => one.kept)]
  const lost = listLost(group)
  for (const order of [...kept, ...lost]) {
    // When the enclave has forgotten its responses, the owner's signature has expired long ago.
    const isTimely = order.kind !== 'withdrawal' || group.answers === 'kept'
    if (order.isRepeatable && isTimely) for (const _ of [1, 2]) jobs.push(() => repeat(scene, order))
  }
  for (const [index, order] of lost.entries()) {
    if (index % ORDERS_PER_OTHER > 0) continue
    for (const other of order.others) jobs.push(() => repeat(scene, order, other))
  }
  for (const { fresh } of group.capped) for (const order of fresh) jobs.push(() => repeat(scene, order))
  return jobs
}

/**
 * Returns the final answer. Null if there was none in time. If the service says that the client has to wait, returns
 * this answer for a client that `mayWait`.
 */
async function sendUntilFinal(
  send: Order['send'],
  { isRepeatable, mayWait }: { isRepeatable: boolean; mayWait: boolean },
): Promise<JsonAnswer | null> {
  const deadline = performance.now() + ANSWER_MS_MAX
  while (performance.now() < deadline) {
    const answer = await send().catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') return null
      throw error
    })
    const status = answer?.status ?? 0
    const isFinal = status > 0 && status < 500 && status !== 429
    if (isFinal || (status >= 500 && !isRepeatable) || (status === 503 && mayWait)) return answer
    await delay(RETRY_MS)
  }
  return null
}

/** Does all jobs, `lanes` of them at the same time. */
async function work(jobs: readonly (() => Promise<void>)[], lanes: number): Promise<void> {
  const left = jobs.values()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const job of left) await job()
    }),
  )
}

function shuffle<Item>(items: readonly Item[], seed: number): Item[] {
  const random = createRandom(seed)
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ item }) => item)
}

/**
 * Lets the time pass after which no authorization from before the restore can be used. The clock cannot be moved for
 * this, because the offers of MPP sellers end by the sellers' own clocks.
 */
async function passLostAuthorizations({ fixture }: Scene): Promise<void> {
  await fixture.query("update unexplained_transfers set found_at = found_at - interval '310 seconds'")
}

/**
 * Waits until the service has recorded what the chain shows. Returns whether it did in time. Purchases that no seller
 * takes stay pending.
 */
async function waitUntilSettled({ fixture, buyers }: Scene): Promise<boolean> {
  const deadline = performance.now() + SETTLED_MS_MAX
  while (performance.now() < deadline) {
    const pending = await fixture.query(
      `select kind, lower(to_address) as payee from payments where status = 'pending' and wallet_address = any($1)`,
      [buyers.map(({ wallet }) => wallet)],
    )
    const paid = new Set((await listTransfers(fixture, buyers)).map(({ to }) => to))
    if (pending.every(({ kind, payee }) => kind === 'x402' && !paid.has(String(payee)))) return true
    await delay(RETRY_MS)
  }
  return false
}

/** Lists the transfers from the buyers' wallets. */
async function listTransfers({ chains }: RestoreFixture, buyers: readonly Buyer[]): Promise<readonly ChainTransfer[]> {
  return (await Promise.all(buyers.map(({ wallet }) => chains.test.listTransfers(wallet)))).flat()
}
