import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClock } from '../lib/clock.ts'
import { createLogger } from '../lib/logger.ts'
import { openPools } from '../lib/pools.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { openHttp } from './open-http.ts'
import { OverloadGate, sessionOf } from './overload-gate.ts'

const ip = '2001:db8:1:2::3'

test('a credential or session counts in its own share while it is accepted, and otherwise in that of the network', () => {
  const gate = new OverloadGate({ clock: createClock(), logger: createLogger('silent'), pools: openPools() })
  const stranger = { name: '2001:db8:1::/48', isKnown: false }
  const key = { headers: { authorization: 'Bearer key' }, ip }
  const browser = { headers: { cookie: 'theme=dark; __Host-session=secret; other=session=x' }, ip }
  assert.deepEqual([gate.groupOf(key), gate.groupOf(browser)], [stranger, stranger])
  gate.remember(key.headers.authorization, 'acc_1')
  gate.remember(sessionOf(browser), 'usr_1')
  assert.deepEqual(gate.groupOf(key), { name: 'acc_1', isKnown: true })
  assert.deepEqual(gate.groupOf(browser), { name: 'usr_1', isKnown: true })
  assert.deepEqual(gate.groupOf({ headers: { cookie: 'session=other' }, ip }), stranger)
  gate.forget(key.headers.authorization)
  gate.forget(sessionOf(browser))
  assert.deepEqual([gate.groupOf(key), gate.groupOf(browser)], [stranger, stranger])
})

test('a payment that waits for a place begins once, when the one before it is done', async () => {
  const pools = openPools({ strangers: { placesMax: 1 } })
  const http = openHttp(
    { production: false, trustedProxies: [] },
    { clock: createClock(), logger: createLogger('silent'), pools },
  )
  const begun: string[] = []
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  http.post('/pay', { config: { load: 'payment' }, onRequest: http.overloadGate.hook }, async (request) => {
    begun.push(request.ip)
    await released
    return { ip: request.ip }
  })
  const pay = async (remoteAddress: string) => await http.inject({ method: 'POST', url: '/pay', remoteAddress })
  const first = pay('192.0.2.1')
  await waitFor('the first one', () => begun.length === 1)
  const second = pay('192.0.2.2')
  await waitFor('the second one to wait', () => http.overloadGate.waiting === 1)
  assert.equal((await pay('192.0.2.1')).statusCode, 503)
  release()
  assert.deepEqual([(await first).json(), (await second).json()], [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }])
  assert.deepEqual([begun, http.overloadGate.inWork, pools.submissions.taken], [['192.0.2.1', '192.0.2.2'], 0, 0])
  await http.close()
})
