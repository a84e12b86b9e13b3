import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { RECIPIENT, seed } from '../support/context/seed.ts'
import { readBody } from '../support/http-client.ts'
import { callTool } from '../support/service/mcp-client.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'
import { startFakeServer } from '../support/wires/fake-server.ts'

const AMOUNT = '1.234567'
const MEMO = 'lunch for two'
const IDEMPOTENCY_KEY = 'order-4711-of-ada'
const STRANGERS_TRACE = '0af7651916cd43dd8448eb211c80319c'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string | number>> }[]
}

describe('the traces', () => {
  test('a collector that hangs gets a trace of a payment with its transaction, the enclave and the chain, and nothing that says who pays whom', async (t) => {
    const bodies: string[] = []
    const given = await openTraced(t, bodies)
    const seeded = await seed(given.context)
    const paid = await given.call({
      path: '/v1/payments',
      key: seeded.key,
      headers: ['traceparent', `00-${STRANGERS_TRACE}-b7ad6b7169203331-01`],
      body: paymentBody(seeded, { amount_usdc: AMOUNT, memo: MEMO, idempotency_key: IDEMPOTENCY_KEY }),
    })
    const { id } = readBody<{ payment: { id: string } }>(paid, 201).payment
    readBody(await given.call({ path: `/v1/payments/${id}`, key: seeded.key }), 200)
    await callTool(given, seeded.key, 'get_payment', { payment_id: id })
    await given.service.stop()

    const spans = bodies.flatMap(readSpans)
    const [request] = spans.filter(({ name }) => name === 'POST /v1/payments')
    assert.ok(request)
    assert.equal(request.parentSpanId ?? '', '')
    assert.equal(attributeOf(request, 'bursar.request_id'), paid.headers['request-id'])
    const steps = spans.filter(({ traceId, spanId }) => traceId === request.traceId && spanId !== request.spanId)
    assert.ok(steps.every(({ parentSpanId }) => parentSpanId === request.spanId))
    assert.ok(steps.every((step) => BigInt(step.startTimeUnixNano) >= BigInt(request.startTimeUnixNano)))
    assert.ok(steps.every((step) => BigInt(step.endTimeUnixNano) <= BigInt(request.endTimeUnixNano)))
    const countOf = (name: string): number => steps.filter((step) => step.name === name).length
    assert.deepEqual([countOf('database transaction'), countOf('enclave sendTransfer')], [1, 1])
    assert.ok(countOf('chain test') >= 1)
    const tool = spans.find(({ name }) => name === 'POST /mcp')
    assert.equal(tool && attributeOf(tool, 'bursar.tool'), 'get_payment')

    const text = bodies.join('\n')
    const { workspace, agentId, wallet, grant, key } = seeded
    const secrets = [workspace.id, workspace.slug, agentId, wallet, grant.id, key, RECIPIENT, AMOUNT, MEMO, id]
    for (const secret of [...secrets, IDEMPOTENCY_KEY, STRANGERS_TRACE])
      assert.ok(!text.toLowerCase().includes(secret.toLowerCase()), secret)
  })
})

/** Opens the service with a collector that receives traces, and never responds. */
async function openTraced(t: TestContext, bodies: string[]): Promise<TestService> {
  const collector = await startFakeServer((_request, body) => bodies.push(body))
  t.after(() => collector.close())
  const traces = { endpoint: collector.url, ratio: 1, serviceName: 'bursar' }
  const given = await openTestService((config) => ({ ...config, traces }))
  t.after(() => given.close())
  return given
}

function readSpans(body: string): Span[] {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

function attributeOf({ attributes }: Span, name: string): string | number | undefined {
  const value = attributes.find(({ key }) => key === name)?.value ?? {}
  return Object.values(value)[0]
}
