import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { offerOf, seedBuyer } from '../../../../test/support/context/seed-buyer.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { startFakeSeller, type FakeSeller } from '../../../../test/support/wires/fake-seller.ts'
import { runTool } from '../run-tool.ts'
import { FETCH_PAID } from './fetch-paid.ts'

const NEVER = new AbortController().signal

describe('fetch_paid', () => {
  let given: TestContext
  let seller: FakeSeller
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
  })
  beforeEach(async () => {
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context)]
  })
  afterEach(() => seller.close())
  after(() => given.close())

  test('a seller that takes a long time: the call ends in time, the purchase continues, and the next call gets the goods', async () => {
    const buyer = await seedBuyer(given)
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    seller.deliver = (response) => {
      arrived.resolve()
      void released.promise.then(() => response.writeHead(200).end('goods'))
    }
    const works: Promise<unknown>[] = []
    const left = new AbortController()
    const caller = {
      ...buyer,
      workspaceId: buyer.workspace.id,
      credentialId: 'key',
      requestId: 'req_1',
      agentId: buyer.agentId,
    }
    const args = { url: `${seller.url}/goods`, max_amount_usdc: '0.01', purchase_id: 'one' }
    const background = {
      stopping: new AbortController().signal,
      keep: (work: Promise<unknown>) => void works.push(work),
    }
    const first = runTool(given.context, { tool: FETCH_PAID, caller, args, left: left.signal, background })
    await Promise.race([
      arrived.promise,
      first.then(({ structuredContent }) => assert.fail(JSON.stringify(structuredContent))),
    ])
    left.abort()
    const { structuredContent: late, isError } = await first
    assert.deepEqual([isError, late['in_progress'], late['answer']], [false, true, null])
    assert.match(String(late['summary']), /still being paid; call again with the same purchase_id/)
    released.resolve()
    await Promise.all(works)
    const { structuredContent: next } = await runTool(given.context, {
      tool: FETCH_PAID,
      caller,
      args,
      left: NEVER,
      background,
    })
    assert.deepEqual([next['replayed'], next['in_progress']], [true, false])
    assert.deepEqual((next['answer'] as { text: unknown }).text, { untrusted: 'goods' })
    assert.equal(works.length, 1)
    assert.equal(seller.paid.length, 1)
  })
})
