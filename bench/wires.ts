import { startFakeChain } from '../test/support/wires/fake-chain.ts'
import { startFakeEnclave } from '../test/support/wires/fake-enclave.ts'

/** The addresses of the fakes. */
export interface Wires {
  readonly enclave: string
  readonly test: string
  readonly live: string
}

/** This process runs fakes of the enclave and of both chains. They respond at once. */
const [enclave, test, live] = await Promise.all([startFakeEnclave(), startFakeChain(84532), startFakeChain(8453)])
process.on('disconnect', () => process.exit(0))
process.send?.({ enclave: enclave.url, test: test.url, live: live.url } satisfies Wires)
