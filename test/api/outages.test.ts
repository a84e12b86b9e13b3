import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectError, readBody } from '../support/http-client.ts'
import { runOnServer } from '../support/database/test-server.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { startTcpProxy, type TcpProxy } from '../support/wires/tcp-proxy.ts'
import { openTestService, paymentBody, withJobs, type TestService } from '../support/service/test-service.ts'
import { waitFor } from '../support/wait-for.ts'
import { referenceId } from '../../server/src/domain/payments/derived-ids.ts'

type Wire = Readonly<Record<string, unknown>>

describe('outages', () => {
  let given: TestService
  let proxy: TcpProxy
  let enclaveProxy: TcpProxy
  let seeded: Seed
  before(async () => {
    given = await openTestService(async (config) => {
      proxy = await startTcpProxy(config.database.url)
      enclaveProxy = await startTcpProxy(config.enclave.apiUrl)
      return withJobs({
        ...config,
        database: { ...config.database, url: proxy.url },
        enclave: { ...config.enclave, apiUrl: new URL(enclaveProxy.url).origin },
      })
    })
    seeded = await seed(given.context)
  })
  after(async () => {
    await given.close()
    await Promise.all([proxy.close(), enclaveProxy.close()])
  })

  test('while the database is unreachable or accepts no writes, all of /v1 is 503 with Retry-After, and the service is not ready; later it is again', async () => {
    const databaseName = new URL(proxy.url).pathname.slice(1)
    const change = (verb: 'set' | 'reset', value = '') =>
      runOnServer(`alter database ${databaseName} ${verb} default_transaction_read_only${value}`)
    const outages = [
      { begin: async () => proxy.cut(), end: async () => proxy.restore() },
      {
        begin: async () => {
          await change('set', ' = on')
          // As if an address now led to a standby: the connections end, and new ones find a server for reads only.
          proxy.cut()
          proxy.restore()
        },
        end: () => change('reset'),
      },
    ]
    const calls = [{ path: '/v1/me' }, { path: '/v1/agents', body: { id: 'lost' } }, paymentCall()]
    for (const { begin, end } of outages) {
      readBody(await given.call({ path: '/v1/me', key: seeded.key }), 200)
      await begin()
      for (const call of calls) {
        const answer = await given.call({ ...call, key: seeded.key })
        expectError(answer, { type: 'unavailable' })
        assert.match(answer.headers['retry-after'] ?? '', /^[1-9][0-9]*$/)
      }
      // The service caches the result of the check for a moment.
      const ready = await waitFor('the check of the database to fail', async () => {
        const answer = await given.call({ path: '/readyz' })
        return answer.status === 503 && answer
      })
      assert.equal(readBody<{ checks: Wire }>(ready, 503).checks['database'], 'unavailable')
      assert.equal((await given.call({ path: '/healthz' })).status, 200)
      await end()
      await untilServed()
      const { agents } = readBody<{ agents: Wire[] }>(await given.call({ path: '/v1/agents', key: seeded.key }), 200)
      assert.deepEqual(
        agents.map(({ id }) => id),
        [seeded.agentId],
      )
    }
  })

  test('if the database is lost after the enclave was called, the payment is 500, and a retry returns its result', async () => {
    given.enclave.behave = () => {
      proxy.cut()
      return 'sign'
    }
    const call = paymentCall({ idempotency_key: 'lost' })
    expectError(await given.call({ ...call, key: seeded.key }), { type: 'internal' })
    given.enclave.behave = () => 'sign'
    proxy.restore()
    await untilServed()
    await retryUntilPaid(call)
    const lost = referenceId({ workspaceId: seeded.workspace.id, mode: 'test', idempotencyKey: 'lost', id: '' })
    assert.equal(given.enclave.requests.filter((request) => request.referenceId === lost).length, 1)
  })

  test('while the chain is unreachable, a payment is 503 and is not recorded; reads return what is recorded', async () => {
    const key = await given.issueKey(seeded)
    const paid = await given.call({ ...paymentCall({ idempotency_key: 'known' }), key })
    const { payment } = readBody<{ payment: Wire }>(paid, 201)
    given.chains.test.down = true
    given.service.clock.setOffset(5_000)
    const before = await given.countRows()
    const refused = await given.call({ ...paymentCall({ idempotency_key: 'new' }), key })
    expectError(refused, { type: 'unavailable' })
    assert.match(refused.headers['retry-after'] ?? '', /^[1-9][0-9]*$/)
    assert.deepEqual(await given.countRows(), before)
    const read = await given.call({ path: `/v1/payments/${String(payment['id'])}`, key })
    assert.deepEqual(readBody(read, 200), { payment })
    const replayed = await given.call({ ...paymentCall({ idempotency_key: 'known' }), key })
    assert.deepEqual(readBody(replayed, 201), { payment })
    // The service caches the result of the check for a moment.
    await waitFor('the check of the chain to fail', async () => {
      const { checks } = readBody<{ checks: Wire }>(await given.call({ path: '/readyz' }), 200)
      return checks['test_chain'] !== 'ok'
    })
    given.chains.test.down = false
    given.service.clock.setOffset(0)
    readBody(await given.call({ ...paymentCall({ idempotency_key: 'new' }), key }), 201)
  })

  test('while the enclave is out of reach, a new payment is 503 and is not recorded; a known one is still found; later, new ones are paid', async () => {
    const key = await given.issueKey(seeded)
    const pay = (idempotencyKey: string) => given.call({ ...paymentCall({ idempotency_key: idempotencyKey }), key })
    const expectFailed = async (idempotencyKey: string) => {
      const failed = await pay(idempotencyKey)
      expectError(failed, { type: 'internal', code: 'privy_call_failed' })
      assert.match(failed.headers['retry-after'] ?? '', /^[1-9][0-9]*$/)
    }
    enclaveProxy.cut()
    await expectFailed('early')
    given.service.clock.setOffset(6_000)
    // Whether this payment or a background job makes the call that decides, is a matter of time.
    let tries = 0
    await waitFor('new payments being turned away', async () => {
      tries += 1
      return (await pay(`try ${tries}`)).status === 503
    })
    const before = await given.countRows()
    const refused = await pay('late')
    expectError(refused, { type: 'unavailable' })
    assert.match(refused.headers['retry-after'] ?? '', /^[1-9][0-9]*$/)
    assert.deepEqual(await given.countRows(), before)
    await expectFailed('early')
    enclaveProxy.restore()
    // The enclave is not tried again at once.
    given.service.clock.setOffset(8_000)
    readBody(await pay('late'), 201)
    given.service.clock.setOffset(0)
    const id = referenceId({ workspaceId: seeded.workspace.id, mode: 'test', idempotencyKey: 'late', id: '' })
    assert.equal(given.enclave.requests.filter((request) => request.referenceId === id).length, 1)
  })

  function paymentCall(changes: Wire = {}) {
    return { path: '/v1/payments', body: paymentBody(seeded, changes) }
  }

  async function untilServed(): Promise<void> {
    await waitFor('readiness', async () => (await given.call({ path: '/readyz' })).status === 200)
  }

  /**
   * Retries until the payment is made. No other attempt can start before the signed request of the lost attempt
   * expires.
   */
  async function retryUntilPaid(call: ReturnType<typeof paymentCall>): Promise<Wire> {
    given.service.clock.setOffset(15_000)
    const answer = await waitFor('the payment to be accepted', async () => {
      const retried = await given.call({ ...call, key: await given.issueKey(seeded) })
      return retried.status === 201 && retried
    })
    given.service.clock.setOffset(0)
    return readBody<{ payment: Wire }>(answer, 201).payment
  }
})
