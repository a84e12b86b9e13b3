import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClock } from '../lib/clock.ts'
import { createLogger } from '../lib/logger.ts'
import { addHealth } from './add-health.ts'
import { openHttp } from './open-http.ts'

test('a process is ready while it has what it needs and does not stop, even if it is degraded (D77)', async (t) => {
  const ok = async () => undefined
  const fail = () => Promise.reject(new Error('on purpose'))
  const cases = [
    { needed: ok, outside: ok, isStopping: false, expected: [200, 'ok'] },
    { needed: ok, outside: fail, isStopping: false, expected: [200, 'degraded'] },
    { needed: fail, outside: ok, isStopping: false, expected: [503, 'unavailable'] },
    { needed: fail, outside: fail, isStopping: false, expected: [503, 'unavailable'] },
    { needed: ok, outside: ok, isStopping: true, expected: [503, 'stopping'] },
  ]
  for (const { needed, outside, isStopping, expected } of cases) {
    const http = openHttp(
      { production: false, trustedProxies: [] },
      { clock: createClock(), logger: createLogger('silent') },
    )
    t.after(() => http.close())
    addHealth(http, { needed: { needed }, outside: { outside } })
    http.shutdown.hasBegun = isStopping
    const answer = await http.inject({ url: '/readyz', headers: { host: 'localhost' } })
    const { status, checks } = answer.json<{ status: string; checks: Record<string, string> }>()
    assert.deepEqual([answer.statusCode, status], expected)
    assert.deepEqual(checks, {
      needed: needed === ok ? 'ok' : 'unavailable',
      outside: outside === ok ? 'ok' : 'unavailable',
    })
    assert.equal((await http.inject({ url: '/healthz', headers: { host: 'localhost' } })).statusCode, 200)
  }
})
