import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import pino from 'pino'
import { findFreePort } from '../../../test/support/free-port.ts'
import { send } from '../../../test/support/http-client.ts'
import { createClock } from '../lib/clock.ts'
import { openHttp } from './open-http.ts'
import { createRequestSignals } from './request-signals.ts'

test('the signal of a request is aborted when its connection is closed or the service stops, and not before', async () => {
  const http = openHttp({ production: false, trustedProxies: [] }, { clock: createClock(), logger: silent() })
  const signalOf = createRequestSignals(http)
  const signals: AbortSignal[] = []
  const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  http.get('/wait', async (_request, reply) => {
    const signal = signalOf(reply)
    signals.push(signal)
    arrivals[signals.length - 1]?.resolve()
    await aborted(signal)
    return { ended: true }
  })
  http.get('/now', async (_request, reply) => ({ isAborted: signalOf(reply).aborted }))
  const port = await findFreePort()
  await http.listen({ host: '127.0.0.1', port })
  const url = `http://127.0.0.1:${port}`
  try {
    assert.deepEqual(JSON.parse((await send(url, { path: '/now' })).text), { isAborted: false })
    const closed = request(`${url}/wait`)
    closed.on('error', () => undefined).end()
    await arrivals[0]?.promise
    const stopped = send(url, { path: '/wait' })
    await arrivals[1]?.promise
    const [first, second] = signals
    assert.ok(first !== undefined && second !== undefined && !first.aborted && !second.aborted)
    closed.destroy()
    await aborted(first)
    assert.equal(second.aborted, false)
    const stop = http.close()
    assert.deepEqual(JSON.parse((await stopped).text), { ended: true })
    await stop
  } finally {
    await http.close()
  }
})

test('a signal is not aborted if the response was sent', async () => {
  const http = openHttp({ production: false, trustedProxies: [] }, { clock: createClock(), logger: silent() })
  const signalOf = createRequestSignals(http)
  const closed = Promise.withResolvers<AbortSignal>()
  http.get('/now', async (_request, reply) => {
    const signal = signalOf(reply)
    reply.raw.once('close', () => closed.resolve(signal))
    return {}
  })
  try {
    const port = await findFreePort()
    await http.listen({ host: '127.0.0.1', port })
    await send(`http://127.0.0.1:${port}`, { path: '/now' })
    assert.equal((await closed.promise).aborted, false)
  } finally {
    await http.close()
  }
})

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true })
  })
}

function silent() {
  return pino({ level: 'silent' })
}
