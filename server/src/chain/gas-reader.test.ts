import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startFakeChain, type FakeChain, type RpcCall } from '../../../test/support/wires/fake-chain.ts'
import { address } from '../../../test/support/context/seed.ts'
import { createLogger } from '../lib/logger.ts'
import { ChainUnavailable } from './errors.ts'
import { openChain, type Chain } from './open-chain.ts'

const WALLET = address(`0x${'1'.repeat(40)}`)
const USDC = address(`0x${'2'.repeat(40)}`)
const GWEI = 10n ** 9n

describe('gas funds of a wallet', () => {
  let node: FakeChain
  let chain: Chain
  let elsewhere: Chain
  before(async () => {
    node = await startFakeChain(84532)
    chain = open(84532)
    elsewhere = open(137)
  })
  after(async () => {
    chain.close()
    elsewhere.close()
    await node.close()
  })

  function open(chainId: number): Chain {
    const options = { mode: 'test', chainId, rpcUrls: [node.url], usdc: USDC, confirmations: 1 } as const
    return openChain(options, { logger: createLogger('silent') })
  }

  test('the wallet needs twice the current price of a transfer', async () => {
    node.coinWei = 5n
    assert.deepEqual(await chain.readGasFunds(WALLET), { coin: 'ETH', balanceWei: 5n, neededWei: 200_000n * GWEI })
    assert.equal(await chain.readCoinBalance(WALLET), 5n)
  })

  test('on an OP stack chain, the price of publishing on Ethereum is added', async () => {
    const asked: RpcCall[] = []
    node.intercept = (call) => {
      asked.push(call)
      return call.method === 'eth_call' ? `0x${(7n * GWEI).toString(16).padStart(64, '0')}` : undefined
    }
    const { neededWei } = await chain.readGasFunds(WALLET)
    assert.equal(neededWei, 200_000n * GWEI + 14n * GWEI)
    const [question] = asked.flatMap(({ method, params }) => (method === 'eth_call' ? [params[0]] : []))
    const { to, data } = question as { to: string; data: string }
    assert.equal(to, '0x420000000000000000000000000000000000000F')
    // getL1FeeUpperBound(uint256)
    assert.equal(data.slice(0, 10), '0xf1c7a58b')
    node.intercept = (call) => (call.method === 'eth_chainId' ? '0x89' : undefined)
    asked.length = 0
    assert.deepEqual(await elsewhere.readGasFunds(WALLET), {
      coin: 'POL',
      balanceWei: 5n,
      neededWei: 200_000n * GWEI,
    })
    assert.deepEqual(asked, [])
  })

  test('cannot be read while the chain is unavailable', async () => {
    node.down = true
    await assert.rejects(chain.readGasFunds(WALLET), ChainUnavailable)
    await assert.rejects(chain.readCoinBalance(WALLET), ChainUnavailable)
  })
})
