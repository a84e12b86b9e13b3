import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { findFreePort } from '../../../test/support/free-port.ts'
import { send } from '../../../test/support/http-client.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { createClock } from '../lib/clock.ts'
import { NOT_MEASURED, type Measurements } from '../lib/measurements.ts'
import { problem } from '../values/problem.ts'
import { openHttp } from './open-http.ts'

test('the line of a request in the log has its id, its workspace and the code of its error, and no path', async (t) => {
  const lines: Record<string, unknown>[] = []
  const measured: Parameters<Measurements['requestEnded']>[0][] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const measurements = { ...NOT_MEASURED, requestEnded: (request: (typeof measured)[number]) => measured.push(request) }
  const http = openHttp({ production: false, trustedProxies: [] }, { clock: createClock(), logger, measurements })
  t.after(() => http.close())
  http.get('/things/:name', async (request) => {
    request.workspaceId = 'acc_1'
    throw problem('agent_not_found')
  })
  const url = await http.listen({ host: '127.0.0.1', port: await findFreePort() })
  const response = await send(url, { path: '/things/secret' })
  assert.equal(response.status, 404)
  // The line is written after the response.
  await waitFor('the request is counted', () => measured.length > 0)
  assert.deepEqual(
    lines
      .filter(({ msg }) => msg === 'request')
      .map(({ request, method, route, status, code, workspace, msg }) => [
        ...[request, method, route, status, code, workspace, msg],
      ]),
    [[response.headers['request-id'], 'GET', '/things/:name', 404, 'agent_not_found', 'acc_1', 'request']],
  )
  assert.doesNotMatch(JSON.stringify([lines, measured]), /secret/)
  assert.deepEqual(
    measured.map(({ route, status, code }) => [route, status, code]),
    [['/things/:name', 404, 'agent_not_found']],
  )
})

test('requests over their rate limit have one line in the log for all of a second', async (t) => {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const http = openHttp({ production: false, trustedProxies: [] }, { clock: createClock(), logger })
  t.after(() => http.close())
  http.get('/', async () => {
    throw problem('rate_limit_exceeded')
  })
  const url = await http.listen({ host: '127.0.0.1', port: await findFreePort() })
  const sent = 5
  for (let count = 0; count < sent; count += 1) assert.equal((await send(url, { path: '/' })).status, 429)
  const summed = () => lines.filter(({ msg }) => msg === 'requests were over their rate limit')
  await waitFor('all are counted', () => summed().reduce((sum, { count }) => sum + Number(count), 0) === sent)
  assert.deepEqual(
    lines.filter(({ msg }) => msg === 'request'),
    [],
  )
})

test('requests that fail in the same way have one line with the error, and each its own line without it', async (t) => {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const http = openHttp({ production: false, trustedProxies: [] }, { clock: createClock(), logger })
  t.after(() => http.close())
  http.get('/', async () => {
    throw problem('privy_call_failed', { cause: new Error('no response') })
  })
  const url = await http.listen({ host: '127.0.0.1', port: await findFreePort() })
  const sent = 3
  const ids: unknown[] = []
  for (let count = 0; count < sent; count += 1) ids.push((await send(url, { path: '/' })).headers['request-id'])
  const own = () => lines.filter(({ msg }) => msg === 'request')
  await waitFor('all have their line', () => own().length === sent)
  assert.deepEqual(
    own().map(({ request, code }) => [request, code]),
    ids.map((id) => [id, 'privy_call_failed']),
  )
  const failures = lines.filter(({ err }) => err !== undefined)
  assert.deepEqual(
    failures.map(({ request, where, code }) => [request, where, code]),
    [[ids[0], '/', 'privy_call_failed']],
  )
})
