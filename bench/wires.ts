import { startFakeChain } from '../test/support/wires/fake-chain.ts'
import { startFakeEnclave } from '../test/support/wires/fake-enclave.ts'

/**
 * This process runs fakes of the enclave and of both chains. They respond at once. Each message to this process mines
 * one block of the test chain, with the transfers in the message.
 */
export interface MineOrder {
  readonly contract: `0x${string}`
  readonly transfers: readonly {
    readonly txHash: string
    readonly from: `0x${string}`
    readonly to: `0x${string}`
    readonly amountMicro: string
  }[]
}

/** The addresses of the fakes. */
export interface Wires {
  readonly enclave: string
  readonly test: string
  readonly live: string
}

const [enclave, test, live] = await Promise.all([startFakeEnclave(), startFakeChain(84532), startFakeChain(8453)])
process.on('disconnect', () => process.exit(0))
process.on('message', ({ contract, transfers }: MineOrder) => {
  const blockNumber = test.head + 1n
  for (const { txHash, from, to, amountMicro } of transfers) {
    test.receipts.set(txHash, { contract, from, to, amountMicro: BigInt(amountMicro), blockNumber })
  }
  test.head = blockNumber
  process.send?.({ minedAt: Date.now() })
})
process.send?.({ enclave: enclave.url, test: test.url, live: live.url } satisfies Wires)
