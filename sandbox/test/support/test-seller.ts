import { randomBytes } from 'node:crypto'
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts'
import type { PrivateKeyAccount } from 'viem/accounts'
import { fetchOnce } from '../../src/lib/fetch-once.ts'
import { BEHAVIOUR_DEFAULT, type Behaviour } from '../../src/seller/behaviour.ts'
import { openSeller } from '../../src/seller/open-seller.ts'
import type { Counters } from '../../src/seller/resource.ts'
import { findFreePort } from '../../../test/support/free-port.ts'
import { startTestChain, type TestChain } from './test-chain.ts'

export interface TestResource {
  readonly id: string
  readonly url: string
  readonly pay_to: `0x${string}`
}

export interface TestSeller {
  readonly chain: TestChain
  readonly url: string
  create(behaviour: Partial<Behaviour>): Promise<TestResource>
  readCounters(resource: TestResource): Promise<Counters>
  /** Returns the total that was paid for a resource, in micro-USDC. */
  readTakings(resource: TestResource): Promise<bigint>
  /** Creates an account with USDC. */
  makePayer(amountMicro?: bigint): Promise<PrivateKeyAccount>
  stop(): Promise<void>
}

/** Starts a seller in this process, on a chain of its own, which serves as its test chain and as its live chain. */
export async function startTestSeller(): Promise<TestSeller> {
  // With shorter blocks, the chain's time would run ahead of real time, and authorizations would expire too early.
  const chain = await startTestChain({ blockTimeSeconds: 1 })
  const controlToken = randomBytes(16).toString('hex')
  const rpcUrls = { test: chain.rpcUrl, live: chain.rpcUrl }
  const seller = await openSeller({ port: await findFreePort(), controlToken, rpcUrls })
  const url = `http://localhost:${seller.port}`
  const headers = { 'x-seller-control': controlToken, 'content-type': 'application/json' }
  const call = async (path: string, request: RequestInit): Promise<unknown> => {
    const response = await fetchOnce(`${url}/control${path}`, { ...request, headers })
    if (!response.ok) throw new Error(await response.text())
    return await response.json()
  }
  return {
    chain,
    url,
    create: async (behaviour) => {
      const body = JSON.stringify({ ...BEHAVIOUR_DEFAULT, ...behaviour })
      return (await call('/resources', { method: 'POST', body })) as TestResource
    },
    readCounters: async ({ id }) => (await call(`/resources/${id}`, {})) as Counters,
    readTakings: async ({ pay_to: payTo }) => await chain.balanceOf(payTo),
    makePayer: async (amountMicro = 1_000_000n) => {
      const payer = privateKeyToAccount(generatePrivateKey())
      await chain.mint(payer.address, amountMicro)
      return payer
    },
    stop: async () => {
      await seller.close()
      await chain.stop()
    },
  }
}
