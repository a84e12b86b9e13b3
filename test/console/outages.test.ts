import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Outage } from '../../server/src/console/contract/outages.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { waitFor } from '../support/wait-for.ts'
import { answerJson, startFakeServer, type FakeServer } from '../support/wires/fake-server.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'

/** The service repeats its checks after this time. */
const REPEATED_AFTER_MS = 5_000

describe('outages in the dashboard', () => {
  let isEnclaveDown = false
  let enclaveCalls = 0
  let enclave: FakeServer
  let server: ConsoleServer
  let viewer: ConsoleFixture
  before(async () => {
    enclave = await startFakeServer((_request, _body, response) => {
      enclaveCalls += 1
      answerJson(response, { error: 'No.' }, isEnclaveDown ? 503 : 404)
    })
    server = await openConsoleServer((config) => ({ ...config, enclave: { ...config.enclave, apiUrl: enclave.url } }))
    viewer = await openConsoleFixture(server, { role: 'viewer' })
  })
  after(async () => {
    await server.close()
    await enclave.close()
  })

  test('are none while everything can be reached, and 100 page views cost one call to the enclave in 5 seconds', async () => {
    const startMs = performance.now()
    const views = Array.from({ length: 50 }, () => Promise.all([listOutages('test'), listOutages('live')]))
    assert.deepEqual(new Set((await Promise.all(views)).flat(2)), new Set())
    const intervals = 1 + Math.floor((performance.now() - startMs) / REPEATED_AFTER_MS)
    assert.ok(enclaveCalls >= 1 && enclaveCalls <= intervals, `${enclaveCalls} calls in ${intervals} intervals`)
  })

  test('name the enclave in both modes, and the chain in its own mode, until they can be reached again', async () => {
    isEnclaveDown = true
    server.chains.test.down = true
    await waitForOutages('test', ['enclave', 'chain'])
    assert.deepEqual(await listOutages('live'), ['enclave'])
    isEnclaveDown = false
    server.chains.test.down = false
    await waitForOutages('test', [])
    assert.deepEqual(await listOutages('live'), [])
  })

  /**
   * Asks until the service reports these outages. Each call signs up a new viewer, because each session has a rate
   * limit.
   */
  async function waitForOutages(mode: string, expected: readonly Outage[]): Promise<void> {
    viewer = await openConsoleFixture(server, { role: 'viewer' })
    await waitFor(`the outages ${expected.join()}`, async () => (await listOutages(mode)).join() === expected.join())
  }

  async function listOutages(mode: string): Promise<readonly Outage[]> {
    const path = viewer.at(`outages?mode=${mode}`)
    return (await viewer.browser.ask<{ outages: readonly Outage[] }>('GET', path)).outages
  }
})
