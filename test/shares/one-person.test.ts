import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { createWorkspace } from '../../server/src/domain/members/create-workspace.ts'
import { Browser } from '../console/browser.ts'
import { EventSource } from '../console/event-source.ts'
import { readRows } from '../support/database/read-rows.ts'
import { seedManyPayments, seedPayment } from '../support/context/payment-rows.ts'
import { signInPerson, signUpPerson } from '../support/context/people.ts'
import { agent, RECIPIENT, seedGrant, seedWallet, type Seed } from '../support/context/seed.ts'
import { readBody, send, type Answer } from '../support/http-client.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { waitFor } from '../support/wait-for.ts'

const OTHERS = 8
/** The first of these holds all that the process gives it with one workspace, the last with as many as are allowed. */
const WORKSPACES = [1, 10, 50]
const WORKSPACES_MAX = Math.max(...WORKSPACES)
/** The person lets others into their workspaces, each with two sessions. Together they may open 200 pages. */
const HELPERS = 20
const STREAMS_OF_SESSION = 5
/** More than a process has. */
const WAITS_MAX = 1_100
/** So many requests are sent at once with one key: fewer than it may send in a minute. */
const WAITS_OF_KEY = 50
const WAIT_SECONDS = 45
const EXPORTS_MAX = 6
const TRIES_MAX = 20
/** An export that is much larger than the buffers between the server and a client that does not read. */
const LARGE = { count: 20_000, memo: 'm'.repeat(190), workspaces: 3 }

interface Member {
  readonly seeded: Seed
  readonly browser: Browser
}

describe('while one person holds all exports, waits and pages that they can', () => {
  let server: ConsoleServer
  let ofPerson: readonly Seed[]
  let helpers: readonly Browser[]
  let others: readonly Member[]
  before(async () => {
    server = await openConsoleServer()
    const { userId } = await signUpPerson(server.context)
    const seeds: Seed[] = []
    for (let index = 0; index < WORKSPACES_MAX; index += 1) seeds.push(await seedWorkspace(userId))
    for (const seeded of seeds.slice(0, LARGE.workspaces)) {
      await seedManyPayments(server.context, seeded, { ...LARGE, before: server.clock.now() })
    }
    ofPerson = seeds
    helpers = (await Promise.all(Array.from({ length: HELPERS }, openHelper))).flat()
    others = await Promise.all(
      Array.from({ length: OTHERS }, async () => {
        const { userId, secret } = await signUpPerson(server.context)
        return { seeded: await seedWorkspace(userId), browser: openBrowser(secret) }
      }),
    )
  })
  after(() => server.close())

  for (const count of WORKSPACES) {
    test(`eight others get an export, a wait and a page: one person with ${count} workspaces`, async (t) => {
      const release: (() => void)[] = []
      const waits: Promise<unknown>[] = []
      const endAttack = async (): Promise<void> => {
        for (const end of release.splice(0)) end()
        await Promise.all(waits)
        await waitFor('the end of the waits', () => server.context.paymentWaits.waiting === 0)
      }
      t.after(endAttack)
      const workspaces = ofPerson.slice(0, count)
      await serveOthers()
      await holdPages(workspaces, release)
      await holdExports(workspaces.slice(0, LARGE.workspaces), release)
      await holdWaits(workspaces, { release, waits })
      await serveOthers()
      await endAttack()
      await serveOthers()
    })
  }

  /** Waits with new keys of each workspace in turn, until the process has no place for a further wait of the person. */
  async function holdWaits(
    workspaces: readonly Seed[],
    { release, waits }: { release: (() => void)[]; waits: Promise<unknown>[] },
  ): Promise<void> {
    const ending = new AbortController()
    release.push(() => ending.abort())
    const payments = await Promise.all(workspaces.map(async (seeded) => await seedPayment(server.context, seeded)))
    const full = new Set<string>()
    let sent = 0
    let answered = 0
    while (sent < WAITS_MAX && full.size < workspaces.length) {
      for (const [index, { workspace }] of workspaces.entries()) {
        const payment = payments[index]
        if (full.has(workspace.id) || payment === undefined || sent >= WAITS_MAX) continue
        const key = await openKey(workspace.id)
        for (let count = 0; count < WAITS_OF_KEY; count += 1) {
          sent += 1
          waits.push(
            waitUntil(ending.signal, { key, id: payment.id }).then((isAnswered) => {
              if (!isAnswered) return
              answered += 1
              full.add(workspace.id)
            }),
          )
        }
        await waitFor('the waits', () => server.context.paymentWaits.waiting + answered >= sent)
      }
    }
  }

  /** Opens pages in every session, until one is refused. */
  async function holdPages(workspaces: readonly Seed[], release: (() => void)[]): Promise<void> {
    for (const [index, browser] of helpers.entries()) {
      for (let page = 0; page < STREAMS_OF_SESSION; page += 1) {
        const seeded = workspaces[(index * STREAMS_OF_SESSION + page) % workspaces.length]
        if (seeded === undefined) throw new Error('there is no workspace')
        const source = await EventSource.open(server, pathOf(seeded, 'changes'), browser)
        release.push(() => source.close())
        if (source.status === 429) return
        assert.equal(source.status, 200)
      }
    }
  }

  /** Begins exports in different sessions, which nobody reads, until one is refused. */
  async function holdExports(workspaces: readonly Seed[], release: (() => void)[]): Promise<void> {
    for (let index = 0; index < EXPORTS_MAX; index += 1) {
      const seeded = workspaces[index % workspaces.length]
      const browser = helpers[index]
      if (seeded === undefined || browser === undefined) throw new Error('there is no workspace')
      const answered = Promise.withResolvers<IncomingMessage>()
      const outgoing = request(
        `${server.url}${pathOf(seeded, 'payments/export')}`,
        { agent: false, headers: { host: server.host, cookie: `session=${browser.cookies.get('session')}` } },
        answered.resolve,
      )
      outgoing.on('error', answered.reject)
      outgoing.end()
      release.push(() => outgoing.destroy())
      const incoming = await answered.promise
      incoming.on('error', () => undefined)
      if (incoming.statusCode === 429) return
      assert.equal(incoming.statusCode, 200)
    }
  }

  /** Eight others do all three at the same time. */
  async function serveOthers(): Promise<void> {
    await Promise.all([serveWaits(), ...others.flatMap((other) => [servePage(other), serveExport(other)])])
  }

  async function serveExport({ seeded, browser }: Member): Promise<void> {
    let answer: Answer | undefined
    // There are fewer places than others. An export of a few lines gives its place back at once.
    for (let tries = 0; tries < TRIES_MAX && (answer === undefined || answer.status === 429); tries += 1) {
      answer = await browser.call('GET', pathOf(seeded, 'payments/export'))
    }
    assert.equal(answer?.status, 200, answer?.text)
  }

  async function servePage({ seeded, browser }: Member): Promise<void> {
    const source = await EventSource.open(server, pathOf(seeded, 'changes'), browser)
    assert.equal(source.status, 200)
    await source.waitFor('ready')
    source.close()
  }

  /** The others' payments settle only when all of them wait. Whoever finds no place learns that theirs is pending. */
  async function serveWaits(): Promise<void> {
    const { chains, context, config } = server
    const answers: Answer[] = []
    const payments = await Promise.all(
      others.map(async ({ seeded }) => {
        const body = { agent_id: seeded.agentId, wallet: seeded.wallet, to: RECIPIENT, amount_usdc: '1' }
        const answer = await send(server.url, { path: '/v1/payments', key: seeded.key, body })
        return { seeded, ...readBody<{ payment: { id: string; tx_hash: string } }>(answer, 201).payment }
      }),
    )
    const before = context.paymentWaits.waiting
    const waits = payments.map(async ({ seeded, id }) => {
      answers.push(await send(server.url, { path: waitPathOf(id), key: seeded.key }))
    })
    await waitFor('the waits', () => context.paymentWaits.waiting - before + answers.length >= OTHERS)
    for (const { seeded, tx_hash } of payments) {
      chains.test.receipts.set(tx_hash, {
        ...{ contract: config.chains.test.usdc, from: seeded.wallet, to: RECIPIENT, amountMicro: 1_000_000n },
        blockNumber: chains.test.head,
      })
    }
    chains.test.head += 1n
    for (const { seeded, id } of payments) await send(server.url, { path: `/v1/payments/${id}`, key: seeded.key })
    await Promise.all(waits)
    for (const answer of answers) {
      assert.equal(readBody<{ payment: { status: string } }>(answer, 200).payment.status, 'confirmed')
    }
  }

  /** Waits for a payment. Returns whether there was a response before the signal. */
  async function waitUntil(signal: AbortSignal, { key, id }: { key: string; id: string }): Promise<boolean> {
    try {
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetchOnce(`${server.url}${waitPathOf(id)}`, { headers, signal })
      assert.equal(response.status, 200, await response.text())
      return true
    } catch (error) {
      if (signal.aborted) return false
      throw error
    }
  }

  /** Creates a workspace of a person, with all that a payment needs. */
  async function seedWorkspace(userId: string): Promise<Seed> {
    const { context } = server
    const { workspace } = await createWorkspace(context, { userId, name: 'Many' })
    const place = { workspace, mode: 'test', agentId: agent('payer') } as const
    await createAgent(context, { ...place, workspaceId: workspace.id, id: place.agentId, actor: OPERATOR })
    const wallet = await seedWallet(context, place)
    const grant = await seedGrant(context, { ...place, wallet })
    return { ...place, wallet, grant, key: await openKey(workspace.id) }
  }

  async function openKey(workspaceId: string): Promise<string> {
    return (await issueKey(server.context, { workspaceId, mode: 'test', actor: OPERATOR })).secret
  }

  /** Signs up somebody whom the person lets into all workspaces, and opens two sessions. */
  async function openHelper(): Promise<Browser[]> {
    const person = await signUpPerson(server.context)
    await readRows(
      server.context.db,
      "insert into members (workspace_id, user_id, role, created_at) select id, $2, 'viewer', now() from unnest($1::text[]) id",
      [ofPerson.map(({ workspace }) => workspace.id), person.userId],
    )
    const again = await signInPerson(server.context, person)
    return [person.secret, again.secret].map(openBrowser)
  }

  function openBrowser(secret: string): Browser {
    const browser = new Browser(server)
    browser.cookies.set('session', secret)
    return browser
  }
})

function waitPathOf(paymentId: string): string {
  return `/v1/payments/${paymentId}?wait=${WAIT_SECONDS}`
}

function pathOf({ workspace }: Seed, what: string): string {
  return `/console/workspaces/${workspace.slug}/${what}?mode=test`
}
