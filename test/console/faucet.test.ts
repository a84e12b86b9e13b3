import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { answerJson, startFakeServer, type FakeServer } from '../support/wires/fake-server.ts'
import { expectError } from '../support/http-client.ts'
import { seedWallet } from '../support/context/seed.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'

const HASH = `0x${'ab'.repeat(32)}`
const NONE = { type: 'not_found', code: 'faucet_not_available' } as const
const FAUCETS_AN_HOUR = 10

describe('the faucet in the dashboard', () => {
  let faucet: FakeServer
  let server: ConsoleServer
  let fixture: ConsoleFixture
  let wallet: string
  let asked: string[] = []
  let answer: (response: ServerResponse) => void
  before(async () => {
    faucet = await startFakeServer((request, body, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['content-type']} ${body}`)
      answer(response)
    })
    const given = { kind: 'endpoint', url: `${faucet.url}/drip` } as const
    server = await openConsoleServer((config) => ({ ...config, faucet: given }))
  })
  beforeEach(async () => {
    asked = []
    answer = (response) => answerJson(response, { tx_hash: HASH }, 201)
    fixture = await openConsoleFixture(server)
    wallet = await seedWallet(server.context, { workspace: fixture.workspace, mode: 'test' })
  })
  after(async () => {
    await server.close()
    await faucet.close()
  })

  test('sends 100 USDC to a wallet of the workspace', async () => {
    const answered = await fixture.browser.ask('POST', pathOf(wallet), { mode: 'test' }, 201)
    assert.deepEqual(answered, { tx_hash: HASH, amount_usdc: '100' })
    const body = JSON.stringify({ mode: 'test', address: wallet, amount_usdc: '100' })
    assert.deepEqual(asked, [`POST /drip application/json ${body}`])
  })

  test('does not send to wallets of others or to addresses that are not wallets: they are not found', async () => {
    const other = await openConsoleFixture(server)
    const theirs = await seedWallet(server.context, { workspace: other.workspace, mode: 'test' })
    const live = await seedWallet(server.context, { workspace: fixture.workspace, mode: 'live' })
    for (const text of [theirs, live, 'x', '0x0']) {
      const missing = { type: 'not_found', code: 'wallet_not_found' } as const
      await fixture.browser.refuse('POST', pathOf(text), missing, { mode: 'test' })
    }
    assert.deepEqual(asked, [])
  })

  test('sends in test mode only', async () => {
    await fixture.browser.refuse('POST', pathOf(wallet), NONE, { mode: 'live' })
    expectError(await fixture.browser.call('POST', pathOf(wallet), {}), { type: 'validation_failed' })
    assert.deepEqual(asked, [])
  })

  test('sends ten times an hour for a workspace, whichever member and wallet', async () => {
    const other = await openConsoleFixture(server, { workspace: fixture.workspace, role: 'admin' })
    const second = await seedWallet(server.context, { workspace: fixture.workspace, mode: 'test' })
    const calls = Array.from({ length: FAUCETS_AN_HOUR + 2 }, (_, index) => {
      const { browser } = index % 2 === 0 ? fixture : other
      return browser.call('POST', pathOf(index % 3 === 0 ? wallet : second), { mode: 'test' })
    })
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 201).length, FAUCETS_AN_HOUR)
    assert.equal(asked.length, FAUCETS_AN_HOUR)
    const limited = { type: 'rate_limited', code: 'rate_limit_exceeded' } as const
    const refused = await fixture.browser.call('POST', pathOf(wallet), { mode: 'test' })
    expectError(refused, limited)
    assert.ok(Number(refused.headers['retry-after']) > 3_000)
    const neighbour = await openConsoleFixture(server)
    const theirs = await seedWallet(server.context, { workspace: neighbour.workspace, mode: 'test' })
    const path = neighbour.at(`wallets/${theirs}/faucet`)
    await neighbour.browser.ask('POST', path, { mode: 'test' }, 201)
  })

  const faults: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ['refuses', (response) => answerJson(response, { error: { message: 'dry' } }, 503)],
    ['responds without a hash', (response) => answerJson(response, { tx_hash: '0x12' }, 201)],
    ['responds with null', (response) => answerJson(response, null, 201)],
    ['responds with a body that is not JSON', (response) => response.end('<html>')],
    ['closes the connection', (response) => response.destroy()],
    ['redirects to another path', (response) => response.writeHead(307, { location: '/other' }).end()],
    ['sends a response without end', (response) => endless(response)],
  ]
  for (const [what, fault] of faults) {
    test(`if the faucet ${what}, the response is 503 and says what to do`, async () => {
      answer = fault
      const failed = await fixture.browser.call('POST', pathOf(wallet), { mode: 'test' })
      assert.match(expectError(failed, { type: 'unavailable' }).message, /Try again/)
      assert.ok(Number(failed.headers['retry-after']) >= 1)
      assert.equal(asked.length, 1)
    })
  }

  test('if there is no faucet, or only a web site, the endpoint sends nothing', async () => {
    for (const given of [null, { kind: 'site', url: 'https://faucet.example' } as const]) {
      const without = await openConsoleServer((config) => ({ ...config, faucet: given }))
      const there = await openConsoleFixture(without)
      const address = await seedWallet(without.context, { workspace: there.workspace, mode: 'test' })
      await there.browser.refuse('POST', there.at(`wallets/${address}/faucet`), NONE, { mode: 'test' })
      await without.close()
    }
  })

  function pathOf(address: string): string {
    return fixture.at(`wallets/${address}/faucet`)
  }
})

function endless(response: ServerResponse): void {
  const push = (): void => {
    if (!response.destroyed) response.write(' '.repeat(8_192), () => setImmediate(push))
  }
  response.writeHead(201, { 'content-type': 'application/json' })
  push()
}
