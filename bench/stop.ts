import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createSoftwarePasskey } from '../sandbox/src/software-passkey.ts'
import { Browser } from '../test/console/browser.ts'
import { EventSource } from '../test/console/event-source.ts'
import { call } from '../test/support/http-client.ts'
import { openRestoreFixture, type RestoreFixture } from '../test/support/restore/restore-fixture.ts'
import { makeAddress, makeAgent, makeGrant, makeKeys, makeWallet } from '../test/support/sandbox/payer-fixture.ts'
import type { PayerFixture } from '../test/support/sandbox/payer-fixture.ts'
import { waitFor } from '../test/support/wait-for.ts'
import { median } from './statistics.ts'

/**
 * `npm run bench:stop [-- rate rounds]` stops all agents while they pay at three servers, by default 50 payments a
 * second, ten times. Says whether a payment was admitted after the response to the stop (it exits with code 1 then),
 * what the payments of before became, and how long the event took to a page that is open at another server, and to a
 * webhook receiver. Runs the whole sandbox; the local enclave uses its profile `fast`.
 */
const [rate = 50, rounds = 10] = process.argv.slice(2).map(Number)
const SERVERS = 3
const WALLETS = 3
/** A key may make 30 payment requests a minute. */
const KEYS = Math.ceil((rate * 60) / 30) + 20
/** How long agents pay before the stop, and how long they go on asking after it. */
const BEFORE_MS = 4_000
const AFTER_MS = 2_000
/** How long payments may take until they are confirmed, on a busy machine. */
const END_MS_MAX = 600_000
const MODE = 'test'

/** A payment request, with when it was sent, and the response. */
interface Sent {
  readonly sentAt: number
  readonly status: number
}

interface Round {
  readonly reachedRate: number
  readonly stopMs: number
  /** The statuses of the responses to requests that were sent before the stop's response. */
  readonly answers: string
  /** How many requests were admitted that were sent after the stop's response. */
  readonly admittedAfter: number
  /** How many payments were recorded after the stop's response. */
  readonly recordedAfter: number
  /** What the payments are shown as when the stop responds, and at the end. */
  readonly shown: string
  readonly ended: string
  readonly pageMs: number
  readonly webhookMs: number
}

const fixture = await openRestoreFixture({ durable: true })
try {
  const added = await Promise.all(Array.from({ length: SERVERS - 1 }, () => fixture.sandbox.addServer({ port: 0 })))
  const bases = [fixture.baseUrl, ...added.map(({ baseUrl }) => baseUrl)]
  const { slug, browser, host } = await joinWorkspace(fixture)
  const payers = await openPayers(slug)
  const keys = await makeKeys(fixture, { ...payers[0], slug, mode: MODE } as PayerFixture, KEYS)
  const receiver = await openReceiver()
  await fixture.control(`/workspaces/${slug}/webhooks`, {
    mode: MODE,
    url: receiver.url,
    events: ['permission.suspended'],
  })
  const page = await EventSource.open({ url: bases[1] ?? '', host }, at(`changes?mode=${MODE}`), browser)
  await page.waitFor('ready')
  const results: Round[] = []
  while (results.length < rounds) {
    const result = await stopOnce()
    results.push(result)
    describeRound(results.length, result)
  }
  page.close()
  receiver.close()
  for (const server of added) await server.stop()
  report(results)

  function at(path: string): string {
    return `/console/workspaces/${slug}/${path}`
  }

  async function stopOnce(): Promise<Round> {
    const sent: Sent[] = []
    const open = new Set<Promise<void>>()
    const over = new AbortController()
    const startedAt = performance.now()
    const sending = sendPaced(async (index) => {
      const [payer, key, baseUrl] = [payers[index % WALLETS], keys[index % KEYS], bases[index % SERVERS]]
      if (payer === undefined || key === undefined || baseUrl === undefined) return
      const sentAt = performance.now()
      const { agentId, wallet, recipient: to } = payer
      const body = { agent_id: agentId, wallet, to, amount_usdc: '0.01' }
      const { status } = await call(baseUrl, 'POST', '/v1/payments', { key, body })
      sent.push({ sentAt, status })
    })

    await delay(BEFORE_MS)
    page.take()
    const pageTold = new Promise<number>((resolve) => {
      const listen = (): void => {
        if (!page.events.some(({ data }) => JSON.stringify(data).includes('grants'))) return
        page.incoming.off('data', listen)
        resolve(performance.now())
      }
      page.incoming.on('data', listen)
    })
    const heard = receiver.arrivals.length
    const askedAt = performance.now()
    const { grants } = await browser.ask<{ grants: number }>('POST', at('stops'), {
      ...{ mode: MODE, agent_id: null, wallet: null },
    })
    const stoppedAt = performance.now()
    const recorded = await countRecorded()
    const shown = await describePayments()
    await delay(AFTER_MS)
    over.abort()
    await sending
    const ended = await waitFor(
      'no payment is pending',
      async () => {
        const found = await describePayments()
        return found.includes('pending') ? null : found
      },
      END_MS_MAX,
    )
    const before = sent.filter(({ sentAt }) => sentAt < stoppedAt)
    const result = {
      reachedRate: (before.length / (stoppedAt - startedAt)) * 1_000,
      stopMs: stoppedAt - askedAt,
      answers: [...Map.groupBy(before, ({ status }) => status)]
        .map(([status, own]) => `${own.length} × ${status}`)
        .join(', '),
      admittedAfter: sent.filter((one) => one.sentAt >= stoppedAt && isAdmitted(one)).length,
      recordedAfter: (await countRecorded()) - recorded,
      ...{ shown, ended },
      pageMs: (await pageTold) - stoppedAt,
      // The last event, because each grant has one.
      webhookMs: (await waitFor('the webhooks', () => receiver.arrivals[heard + grants - 1])) - stoppedAt,
    }
    for (const { grantId } of payers) await fixture.control(`/grants/${grantId}/resume`)
    return result

    async function sendPaced(send: (index: number) => Promise<void>): Promise<void> {
      for (let index = 0; !over.signal.aborted; index += 1) {
        const one = send(index).finally(() => open.delete(one))
        open.add(one)
        await delay(Math.max(0, startedAt + ((index + 1) * 1_000) / rate - performance.now()))
      }
      await Promise.all(open)
    }
  }

  async function openPayers(of: string): Promise<PayerFixture[]> {
    const [key = ''] = await makeKeys(fixture, { slug: of, mode: MODE } as PayerFixture, 1)
    const made: PayerFixture[] = []
    for (let index = 0; index < WALLETS; index += 1) {
      const wallet = await makeWallet(fixture, { slug: of, mode: MODE, fundUsdc: '1000' })
      const agentId = await makeAgent(fixture, key)
      const payer = { slug: of, mode: MODE, key, agentId, wallet, grantId: '', recipient: makeAddress() } as const
      made.push({ ...payer, grantId: await makeGrant(fixture, payer, { dailyCapUsdc: '1000' }) })
    }
    return made
  }

  async function countRecorded(): Promise<number> {
    const rows = await fixture.query('select count(*) from payments where wallet_address = any ($1)', [walletsOf()])
    return Number(rows[0]?.['count'])
  }

  /** The statuses of the payments, with whether the enclave had signed those that are pending. */
  async function describePayments(): Promise<string> {
    const rows = await fixture.query(
      `select status || case when status <> 'pending' then '' when accepted_at is null then ', not signed' else ', signed' end
          || coalesce(' (' || pending_reason || ')', '') as text, count(*) from payments
        where wallet_address = any ($1) group by 1 order by 1`,
      [walletsOf()],
    )
    return rows.map(({ text, count }) => `${String(count)} ${String(text)}`).join('; ')
  }

  function walletsOf(): string[] {
    return payers.map(({ wallet }) => wallet)
  }
} finally {
  await fixture.close()
}

function isAdmitted({ status }: Sent): boolean {
  return status === 201
}

/** Signs up a person, who joins the sandbox's workspace. */
async function joinWorkspace(of: RestoreFixture): Promise<{ slug: string; browser: Browser; host: string }> {
  const { auth_url: authUrl, workspace } = of.sandbox.facts
  const browser = new Browser({ url: authUrl, config: { authUrl } })
  const { hostname: rpId, host } = new URL(authUrl)
  const { options } = await browser.ask<{ options: { challenge: string; user: { id: string } } }>(
    'POST',
    '/console/sign-up/options',
    { name: 'Ada' },
  )
  const passkey = createSoftwarePasskey({ rpId, origin: authUrl, userHandle: options.user.id })
  const response = passkey.register(Buffer.from(options.challenge, 'base64url'))
  await browser.ask('POST', '/console/sign-up', { response }, 201)
  await browser.ask('POST', '/console/invitations/accept', { token: workspace.invite_url.split('/').at(-1) })
  const { slug } = workspace
  await of.control(`/workspaces/${slug}/plan`, { plan: 'scale' })
  return { slug, browser, host }
}

/** Receives webhooks, and notes when each arrives. */
async function openReceiver() {
  const arrivals: number[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(204).end()
      arrivals.push(performance.now())
    })
  })
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening)
  })
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, arrivals, close }
}

function describeRound(round: number, { answers, shown, ended, ...numbers }: Round): void {
  const texts = Object.entries(numbers).map(([name, value]) => `${name} ${Math.round(value)}`)
  say(`round ${round}: ${texts.join(', ')}`)
  say(`  responses before the stop: ${answers}`)
  say(`  shown after the stop: ${shown}`)
  say(`  at the end: ${ended}`)
}

function report(results: readonly Round[]): void {
  for (const name of ['reachedRate', 'stopMs', 'pageMs', 'webhookMs'] as const) {
    const values = results.map((result) => result[name])
    say(`${name}: median ${Math.round(median(values))}, worst ${Math.round(worst(name, values))}`)
  }
  const admitted = results.reduce((sum, { admittedAfter, recordedAfter }) => sum + admittedAfter + recordedAfter, 0)
  say(`payments admitted after the response to a stop: ${admitted}`)
  if (admitted > 0) process.exitCode = 1
}

function worst(name: string, values: readonly number[]): number {
  return name === 'reachedRate' ? Math.min(...values) : Math.max(...values)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
