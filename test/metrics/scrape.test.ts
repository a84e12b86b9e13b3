import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { readRows } from '../support/database/read-rows.ts'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { readBody, send } from '../support/http-client.ts'
import { callTool } from '../support/service/mcp-client.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'
import { waitFor } from '../support/wait-for.ts'

/** The labels of all metrics. A new one must have few values, none of which says who pays whom, or how much (D75). */
const LABELS =
  'call callers code cursor endpoints hash job_name kind le method mode node outcome percentile pool role route status tool version'
const AMOUNT = '1.234567'
const MEMO = 'lunch for two'
const BYTES_MAX = 1_000_000

const [ALERTS = '', DASHBOARD = '', RUNBOOK = '', MONITORING = ''] = [
  'deploy/monitoring/alerts.yml',
  'deploy/monitoring/dashboard.json',
  'docs/site/pages/operate/runbook.md',
  'docs/site/pages/operate/monitoring.md',
].map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
/** The ends of the names of a metric's time series, by its type. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  histogram: ['', '_bucket', '_sum', '_count'],
}

describe('the metrics', () => {
  let given: TestService
  before(async () => {
    given = await openTestService((config) => ({ ...config, metrics: { host: '127.0.0.1', port: 0 } }))
  })
  after(async () => given.close())

  test('requests, payments, calls to the enclave and nodes are counted, without saying whose they are', async () => {
    const seeded = await seed(given.context)
    await makeTraffic(seeded)
    const scrape = await scrapeAfter(1)

    const route = 'method="POST",route="/v1/payments"'
    assert.equal(scrape.get(`bursar_http_requests_total{${route},status="4xx",code="amount_too_large"}`), 1)
    assert.equal(scrape.get(`bursar_http_request_duration_seconds_count{${route}}`), 2)
    assert.equal(scrape.get('bursar_mcp_tool_calls_total{tool="get_payment",code="not_found"}'), 1)
    assert.equal(scrape.get('bursar_enclave_calls_total{call="sendTransfer",outcome="accepted"}'), 1)
    assert.ok((scrape.get('bursar_chain_node_calls_total{mode="test",node="0",outcome="ok"}') ?? 0) >= 1)
    assert.equal(scrape.get('bursar_payments_pending{mode="test",kind="transfer",hash="known"}'), 1)
    assert.equal(scrape.get('bursar_pool_places{pool="payments"}'), 512)
    assert.equal(scrape.get('bursar_database_up'), 1)
    // No job runs in this test, so the changes wait.
    assert.equal(scrape.get('bursar_transparency_log_leaves'), 0)
    assert.ok((scrape.get('bursar_transparency_log_oldest_queued_age_seconds') ?? -1) >= 0)

    given.enclave.behave = () => 'reject'
    readBody(await given.call({ path: '/v1/payments', key: seeded.key, body: paymentBody(seeded) }), 201)
    given.enclave.behave = () => 'sign'
    const ended = 'bursar_payments_ended_total{mode="test",kind="transfer",outcome="enclave_refused"}'
    await waitFor('the failed payment is counted', async () => await scrapeIf(`${ended} 1`))
  })

  test('no label says who pays whom or how much, and other workspaces add no time series', async () => {
    const [first, second] = [await seed(given.context), await seed(given.context)]
    await makeTraffic(first)
    const one = await scrapeAfter(2)
    await makeTraffic(second)
    const both = await scrapeAfter(3)
    assert.deepEqual([...both.keys()].toSorted(), [...one.keys()].toSorted())

    const text = [...both.keys()].join('\n')
    for (const secret of [first, second].flatMap(listSecrets)) assert.ok(!text.includes(secret), secret)
    const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, name]) => name))
    assert.deepEqual(
      [...labels].filter((name) => !LABELS.split(' ').includes(name ?? '')),
      [],
    )
    assert.ok(text.length < BYTES_MAX)
  })

  test('a scrape responds when the database cannot be read, and says so', async (t) => {
    const { db } = given.context
    await readRows(db, 'alter table leases rename to away')
    let isAway = true
    const restore = async (): Promise<void> => {
      if (isAway) await readRows(db, 'alter table away rename to leases')
      isAway = false
    }
    t.after(restore)
    const scrape = await waitFor('the database is down', async () => await scrapeIf('bursar_database_up 0'))
    assert.ok(scrape.endsWith('# EOF\n'))
    assert.doesNotMatch(scrape, /^bursar_payments_pending\{/m)
    await restore()
    await waitFor('the database is up', async () => await scrapeIf('bursar_database_up 1'))
  })

  test('every alert and every panel reads metrics that exist, and every alert has a section in the runbook', async () => {
    const types = [...(await scrapeText()).matchAll(/^# TYPE (\w+) (\w+)$/gm)]
    const known = new Set(
      types.flatMap(([, name = '', type = '']) => (SUFFIXES[type] ?? ['']).map((end) => name + end)),
    )
    for (const text of [ALERTS, DASHBOARD]) {
      const read = [...text.matchAll(/\b(?:bursar|process|nodejs)_\w+/g)].map(([name]) => name)
      assert.ok(read.length > 0)
      assert.deepEqual(
        [...new Set(read)].filter((name) => !known.has(name)),
        [],
      )
    }
    const alerts = [...ALERTS.matchAll(/^ {6}- alert: (\w+)$/gm)].map(([, name = '']) => name)
    const sections = [...RUNBOOK.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)
    assert.deepEqual(sections, alerts)
    const links = [...ALERTS.matchAll(/runbook: docs\/operate\/runbook#(\S+)$/gm)].map(([, anchor]) => anchor)
    assert.deepEqual(
      links,
      alerts.map((name) => name.toLowerCase()),
    )
    const told = [...MONITORING.matchAll(/`([a-z]+_\w+)`/g)].map(([, name]) => name)
    assert.deepEqual(
      [...known].filter((name) => !/_(?:bucket|sum|count)$/.test(name) && !told.includes(name)),
      [],
    )
  })

  test('only the path of the metrics is served on their port', async () => {
    assert.equal((await send(metricsUrl(), { path: '/healthz' })).status, 404)
    assert.equal((await send(metricsUrl(), { method: 'POST', path: '/metrics' })).status, 405)
    assert.equal((await given.call({ path: '/metrics' })).status, 404)
  })

  /** Makes a payment, one that a limit rejects, two reads, and a tool's call that fails. */
  async function makeTraffic(seeded: Seed): Promise<void> {
    const pay = (amount_usdc: string) =>
      given.call({
        path: '/v1/payments',
        key: seeded.key,
        body: paymentBody(seeded, { amount_usdc, memo: MEMO }),
      })
    readBody(await pay(AMOUNT), 201)
    readBody(await pay('49'), 403)
    readBody(await given.call({ path: `/v1/agents/${seeded.agentId}`, key: seeded.key }), 200)
    readBody(await given.call({ path: `/v1/payments/${seeded.grant.id}`, key: seeded.key }), 404)
    await callTool(given, seeded.key, 'get_payment', { payment_id: 'pay_0' })
  }

  function listSecrets({ workspace, agentId, wallet, grant, key }: Seed): string[] {
    return [workspace.id, workspace.slug, agentId, wallet, wallet.toLowerCase(), grant.id, key, RECIPIENT, AMOUNT, MEMO]
  }

  function metricsUrl(): string {
    return `http://127.0.0.1:${given.service.metricsPort}`
  }

  async function scrapeText(): Promise<string> {
    const answer = await send(metricsUrl(), { path: '/metrics' })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'application/openmetrics-text; version=1.0.0; charset=utf-8')
    return answer.text
  }

  async function scrapeIf(line: string): Promise<string | null> {
    const scrape = await scrapeText()
    return scrape.includes(`\n${line}\n`) ? scrape : null
  }

  /** Scrapes until the payments of so many rounds of traffic are counted. A request is counted after its response. */
  async function scrapeAfter(rounds: number): Promise<ReadonlyMap<string, number>> {
    return await waitFor('the requests are counted', async () => {
      const scrape = parse(await scrapeText())
      const tools = scrape.get('bursar_http_request_duration_seconds_count{method="POST",route="/mcp"}')
      return tools === rounds ? scrape : null
    })
  }
})

function parse(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split('\n').flatMap((line): [string, number][] => {
      const [, series, value] = /^([^#].*) (\S+)$/.exec(line) ?? []
      return series === undefined ? [] : [[series, Number(value)]]
    }),
  )
}
