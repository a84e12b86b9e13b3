import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seed, RECIPIENT, type Seed } from '../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { startTcpProxy } from '../../../test/support/wires/tcp-proxy.ts'
import { ChainUnavailable } from '../chain/errors.ts'
import { createLogger } from '../lib/logger.ts'
import { openContext } from '../service.ts'
import { runTool, type ToolResult } from './run-tool.ts'
import type { Tool } from './tool.ts'
import { GET_PAYMENT } from './tools/get-payment.ts'
import { SEND_PAYMENT } from './tools/send-payment.ts'
import { referenceId } from '../domain/payments/derived-ids.ts'

/** In this time, a payment is reserved and sent, even on a busy machine. */
const SHORT_MS = 4_000
const NEVER = new AbortController().signal

describe('runTool', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('a wait ends when the client has left, and the payment is returned as it stands', async () => {
    const seeded = await seed(given.context)
    const left = new AbortController()
    const result = run(seeded, SEND_PAYMENT, argsOf({ wait_seconds: 45 }), { left: left.signal })
    await waitFor('the call to wait', () => given.context.paymentWaits.waiting === 1)
    left.abort()
    assert.equal(paymentOf(await result).status, 'pending')
    assert.equal(given.context.paymentWaits.waiting, 0)
  })

  test('a wait ends when the chain confirms the payment', async () => {
    const seeded = await seed(given.context)
    const paid = paymentOf(await run(seeded, SEND_PAYMENT, argsOf()))
    const result = run(seeded, GET_PAYMENT, { payment_id: paid.id, wait_seconds: 45 })
    await waitFor('the call to wait', () => given.context.paymentWaits.waiting === 1)
    await readRows(
      given.context.db,
      `update payments set status = 'failed', failure_code = 'reverted', settled_at = now() where id = $1`,
      [paid.id],
    )
    assert.equal(paymentOf(await result).status, 'failed')
  })

  test('a wait ends shortly before the call must end', async () => {
    const seeded = await seed(given.context)
    const result = await run(seeded, SEND_PAYMENT, argsOf({ wait_seconds: 45 }), { limitMs: 2_000 + SHORT_MS })
    assert.deepEqual([result.isError, paymentOf(result).status], [false, 'pending'])
  })

  test('if the database is lost while a call waits, the answer is the payment that was made', async () => {
    const seeded = await seed(given.context)
    const proxy = await startTcpProxy(given.config.database.url)
    const { context, close } = openContext(
      { ...given.config, database: { ...given.config.database, url: proxy.url } },
      { clock: given.clock, logger: createLogger('silent') },
    )
    try {
      const left = new AbortController()
      const result = run(seeded, SEND_PAYMENT, argsOf({ wait_seconds: 45 }), { context, left: left.signal })
      await waitFor('the call to wait', () => context.paymentWaits.waiting === 1)
      proxy.cut()
      left.abort()
      const { isError, structuredContent } = await result
      assert.deepEqual([isError, structuredContent['replayed']], [false, false])
      assert.ok(given.enclave.accepted.has(referenceOf(seeded, argsOf())))
    } finally {
      await close()
      await proxy.close()
    }
  })

  test('if the enclave does not respond in time, the call ends nevertheless, and the same purchase_id finds the payment', async () => {
    const seeded = await seed(given.context)
    const released = Promise.withResolvers<void>()
    given.enclave.released = released.promise
    given.enclave.behave = () => 'sign when released'
    const result = await run(seeded, SEND_PAYMENT, argsOf(), { limitMs: SHORT_MS })
    given.enclave.behave = () => 'sign'
    assert.equal(errorOf(result).code, 'timed_out')
    assert.match(errorOf(result).next, /may have been made.*same purchase_id/)
    released.resolve()
    const again = await run(seeded, SEND_PAYMENT, argsOf())
    assert.equal(again.structuredContent['replayed'], true)
    const rows = await readRows(given.context.db, 'select id from payments where workspace_id = $1', [
      seeded.workspace.id,
    ])
    assert.equal(rows.length, 1)
    assert.ok(given.enclave.accepted.has(referenceOf(seeded, argsOf())))
  })

  for (const [what, error, code, next] of [
    ['a fault of ours', new Error('secret detail'), 'internal', /same purchase_id/],
    ['an outage of the chain', new ChainUnavailable('secret detail'), 'unavailable', /same purchase_id/],
  ] as const) {
    test(`${what} is an answer without private details, which says how to repeat the call`, async () => {
      const seeded = await seed(given.context)
      const broken: Tool = { ...SEND_PAYMENT, run: () => Promise.reject(error) }
      const result = await run(seeded, broken, argsOf())
      assert.equal(errorOf(result).code, code)
      assert.match(errorOf(result).next, next)
      assert.doesNotMatch(JSON.stringify(result), /secret detail/)
    })
  }

  function run(
    { workspace, mode, agentId }: Seed,
    tool: Tool,
    args: unknown,
    {
      context = given.context,
      left = NEVER,
      limitMs,
    }: { context?: TestContext['context']; left?: AbortSignal; limitMs?: number } = {},
  ): Promise<ToolResult> {
    const caller = { workspaceId: workspace.id, mode, credentialId: 'key_1', requestId: 'req_1', agentId }
    return runTool(context, { tool, caller, args, left, ...(limitMs === undefined ? {} : { limitMs }) })
  }
})

function argsOf(change: Record<string, unknown> = {}): Record<string, unknown> {
  return { purchase_id: 'one', to: RECIPIENT, amount_usdc: '1', ...change }
}

function paymentOf({ structuredContent }: ToolResult): { readonly id: string; readonly status: string } {
  return structuredContent['payment'] as { id: string; status: string }
}

function errorOf({ structuredContent }: ToolResult): { readonly code: string; readonly next: string } {
  return structuredContent['error'] as { code: string; next: string }
}

/** Returns the reference id at the enclave of the payment that a call of `send_payment` makes. */
function referenceOf({ workspace }: Seed, args: Readonly<Record<string, unknown>>): string {
  return referenceId({ workspaceId: workspace.id, mode: 'test', idempotencyKey: String(args['purchase_id']), id: '' })
}
