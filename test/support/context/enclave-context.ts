import {
  APP_ID,
  APP_SECRET,
  makeDataDir,
  removeDataDir,
  startTestEnclave,
  type TestEnclave,
} from '../../../sandbox/test/support/test-enclave.ts'
import type { Fault } from '../../../sandbox/src/enclave/faults.ts'
import type { Config } from '../../../server/src/config.ts'
import { share } from '../sandbox/share.ts'
import { startEnclaveProxy, type EnclaveProxy } from '../wires/enclave-proxy.ts'

/** An address where no chain runs. Wallets, signers and policies require no chain. */
const NO_CHAIN = 'http://127.0.0.1:9'

/**
 * The sandbox's enclave, without the rest of the sandbox. It stores wallets, signers and policies, and verifies the
 * owner's signatures.
 */
export interface SandboxEnclave {
  /** Returns a configuration that uses this enclave. */
  readonly use: (config: Config) => Config
  /** Switches a fault on for the next `count` requests that it can affect. */
  readonly orderFault: TestEnclave['orderFault']
  readonly countFaults: TestEnclave['countFaults']
  clearFaults(): Promise<void>
}

/** The sandbox's enclave with a clock that can be moved. The proxy in front of it can delay and lose requests. */
export interface ProxiedEnclave extends SandboxEnclave {
  readonly proxy: EnclaveProxy
  moveClock(offsetMs: number): Promise<void>
  close(): Promise<void>
}

export async function openProxiedEnclave(): Promise<ProxiedEnclave> {
  const dataDir = await makeDataDir()
  let port = 0
  const proxy = await startEnclaveProxy(() => port)
  const enclave = await startTestEnclave({ dataDir, rpcUrl: NO_CHAIN, publicUrl: proxy.url })
  port = Number(new URL(enclave.url).port)
  const wire = { apiUrl: proxy.url, appId: APP_ID, appSecret: APP_SECRET }
  return {
    use: (config) => ({ ...config, enclave: wire }),
    orderFault: (fault, count) => enclave.orderFault(fault, count),
    countFaults: () => enclave.countFaults(),
    clearFaults: () => enclave.control('faults', { fault: 'none' }),
    proxy,
    moveClock: (offsetMs) => enclave.moveClock(offsetMs),
    async close() {
      await proxy.close()
      await enclave.stop()
      await removeDataDir(dataDir)
    },
  }
}

/** Opens the enclave that the test files of a folder share. Each file creates its own wallets. */
export function openSandboxEnclave(): Promise<SandboxEnclave> {
  return share('enclave', startSandboxEnclave)
}

async function startSandboxEnclave() {
  const dataDir = await makeDataDir()
  const enclave = await startTestEnclave({ dataDir, rpcUrl: NO_CHAIN })
  const wire = { apiUrl: enclave.url, appId: APP_ID, appSecret: APP_SECRET }
  return {
    use: (config: Config): Config => ({ ...config, enclave: wire }),
    orderFault: (fault: Fault, count?: number) => enclave.orderFault(fault, count),
    countFaults: () => enclave.countFaults(),
    clearFaults: () => enclave.control('faults', { fault: 'none' }),
    close: async (): Promise<void> => {
      await enclave.stop()
      await removeDataDir(dataDir)
    },
  }
}
