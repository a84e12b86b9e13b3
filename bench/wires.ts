import { startFakeChain } from '../test/support/fake-chain.ts'
import { startFakeEnclave } from '../test/support/fake-enclave.ts'

/** The enclave and both chains, answering at once, in a process of their own. */
const [enclave, test, live] = await Promise.all([startFakeEnclave(), startFakeChain(84532), startFakeChain(8453)])
process.on('disconnect', () => process.exit(0))
process.send?.({ enclave: enclave.url, test: test.url, live: live.url })
