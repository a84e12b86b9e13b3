import { startFakeChain } from '../test/support/wires/fake-chain.ts'
import { startFakeEnclave } from '../test/support/wires/fake-enclave.ts'

/** The addresses of the fakes. */
export interface Wires {
  readonly enclave: string
  readonly test: string
  readonly live: string
}

/**
 * The newest block. It is above the blocks of all generated payments. Otherwise their amounts would not be part of the
 * balances that the chain reports, and each new payment would read them all.
 */
const HEAD = 1_000_000_000n

/** This process runs fakes of the enclave and of both chains. They respond at once. */
const [enclave, test, live] = await Promise.all([startFakeEnclave(), startFakeChain(84532), startFakeChain(8453)])
test.head = HEAD
live.head = HEAD
process.on('disconnect', () => process.exit(0))
process.send?.({ enclave: enclave.url, test: test.url, live: live.url } satisfies Wires)
