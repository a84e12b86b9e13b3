import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Wallet } from '../../server/src/console/contract/wallets.ts'
import type { Config } from '../../server/src/config.ts'
import { openConsoleFixture } from '../console/console-fixture.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { seed } from '../support/context/seed.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'
import { addWalletOwner } from '../support/context/people.ts'

const NEEDED_WEI = 200_000n * 10n ** 9n

/**
 * Changes the configuration as `TEST_GAS=self` does: wallets pay their own gas in test mode. In live mode, gas is still
 * sponsored.
 */
function payOwnGas(config: Config): Config {
  return { ...config, chains: { ...config.chains, test: { ...config.chains.test, gas: 'self' } } }
}

describe('payments from wallets that pay their own gas', () => {
  let service: TestService
  before(async () => {
    service = await openTestService(payOwnGas)
  })
  beforeEach(() => {
    for (const chain of [service.chains.test, service.chains.live]) {
      chain.down = false
      chain.coinWei = 10n ** 18n
      chain.intercept = () => undefined
    }
  })
  after(() => service.close())

  test('a payment from a wallet with too few native coins is rejected before anything is recorded or signed', async () => {
    const seeded = await seed(service.context)
    service.chains.test.coinWei = NEEDED_WEI - 1n
    const [rows, requests] = [await service.countRows(), service.enclave.requests.length]
    const answer = await service.call({
      ...{ method: 'POST', path: '/v1/payments', key: await service.issueKey(seeded) },
      body: paymentBody(seeded),
    })
    const error = expectError(answer, { status: 403, type: 'forbidden', code: 'insufficient_gas' })
    assert.deepEqual(error.details, {
      ...{ coin: 'ETH', balance: '0.000199999999999999', needed: '0.0002' },
    })
    assert.deepEqual(await service.countRows(), rows)
    assert.equal(service.enclave.requests.length, requests)
  })

  test('if both balances are too low, the error is about USDC', async () => {
    const seeded = await seed(service.context)
    service.chains.test.coinWei = 0n
    service.chains.test.balances.set(seeded.wallet.toLowerCase(), 0n)
    const body = paymentBody(seeded)
    const answer = await service.call({
      method: 'POST',
      path: '/v1/payments',
      key: await service.issueKey(seeded),
      body,
    })
    expectError(answer, { status: 403, type: 'forbidden', code: 'insufficient_balance' })
  })

  test('with enough native coins, the enclave is told that nobody sponsors the gas', async () => {
    const seeded = await seed(service.context)
    service.chains.test.coinWei = NEEDED_WEI
    const body = paymentBody(seeded)
    const answer = await service.call({
      method: 'POST',
      path: '/v1/payments',
      key: await service.issueKey(seeded),
      body,
    })
    assert.equal(answer.status, 201)
    assert.equal(service.enclave.requests.at(-1)?.sponsored, false)
  })

  test('while the balance of native coins cannot be read, no payment is recorded', async () => {
    const seeded = await seed(service.context)
    service.chains.test.down = true
    const rows = await service.countRows()
    const body = paymentBody(seeded)
    const answer = await service.call({
      method: 'POST',
      path: '/v1/payments',
      key: await service.issueKey(seeded),
      body,
    })
    expectError(answer, { status: 503, type: 'unavailable' })
    assert.deepEqual(await service.countRows(), rows)
  })

  test('if gas is sponsored, the balance of native coins is not read', async () => {
    const seeded = await seed(service.context, { mode: 'live' })
    const methods: string[] = []
    service.chains.live.coinWei = 0n
    service.chains.live.intercept = ({ method }) => void methods.push(method)
    const key = await service.issueKey(seeded, 'live')
    const answer = await service.call({ method: 'POST', path: '/v1/payments', key, body: paymentBody(seeded) })
    assert.equal(answer.status, 201)
    assert.equal(service.enclave.requests.at(-1)?.sponsored, true)
    assert.ok(methods.includes('eth_call'))
    assert.ok(!methods.includes('eth_getBalance') && !methods.includes('eth_gasPrice'))
  })
})

describe('the page of a wallet that pays its own gas', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer(payOwnGas)
  })
  after(() => server.close())

  test('shows the native coins, even if the chain does not respond, and shows none if gas is sponsored', async () => {
    const fixture = await openConsoleFixture(server)
    const { browser } = fixture
    const { credentialId } = await addWalletOwner(server.context, fixture.userId)
    const create = async (mode: 'test' | 'live') => {
      const body = { mode, name: 'Treasury', credential_id: credentialId }
      return (await browser.ask<{ wallet: Wallet }>('POST', fixture.at('wallets'), body, 201)).wallet
    }
    const show = async ({ address, mode }: Wallet) =>
      (await browser.ask<{ wallet: Wallet }>('GET', `${fixture.at(`wallets/${address}`)}?mode=${mode}`)).wallet.coin
    const [test, live] = [await create('test'), await create('live')]
    server.chains.test.coinWei = 15n * 10n ** 16n
    assert.deepEqual(await show(test), { symbol: 'ETH', balance: '0.15' })
    assert.equal(await show(live), null)
    server.chains.test.down = true
    assert.deepEqual(await show(test), { symbol: 'ETH', balance: null })
  })
})
