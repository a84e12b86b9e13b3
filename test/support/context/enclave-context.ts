import {
  APP_ID,
  APP_SECRET,
  makeDataDir,
  removeDataDir,
  startTestEnclave,
} from '../../../sandbox/test/support/test-enclave.ts'
import type { Config } from '../../../server/src/config.ts'
import { startEnclaveProxy, type EnclaveProxy } from '../wires/enclave-proxy.ts'

/** No chain runs here, because wallets, signers and policies do not need one. */
const NO_CHAIN = 'http://127.0.0.1:9'

/**
 * The sandbox's enclave, without the rest of the sandbox. It stores wallets, signers and policies, and verifies the
 * owner's signature.
 */
export interface SandboxEnclave {
  /** Returns a configuration that uses this enclave. */
  readonly use: (config: Config) => Config
  close(): Promise<void>
}

/** The sandbox's enclave behind a proxy that can hold up and lose requests, and with a clock that can be moved. */
export interface ProxiedEnclave extends SandboxEnclave {
  readonly proxy: EnclaveProxy
  moveClock(offsetMs: number): Promise<void>
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
    proxy,
    moveClock: (offsetMs) => enclave.moveClock(offsetMs),
    async close() {
      await proxy.close()
      await enclave.stop()
      await removeDataDir(dataDir)
    },
  }
}

export async function openSandboxEnclave(): Promise<SandboxEnclave> {
  const dataDir = await makeDataDir()
  const enclave = await startTestEnclave({ dataDir, rpcUrl: NO_CHAIN })
  const wire = { apiUrl: enclave.url, appId: APP_ID, appSecret: APP_SECRET }
  return {
    use: (config) => ({ ...config, enclave: wire }),
    async close() {
      await enclave.stop()
      await removeDataDir(dataDir)
    },
  }
}
