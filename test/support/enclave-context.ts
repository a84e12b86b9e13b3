import {
  APP_ID,
  APP_SECRET,
  makeDataDir,
  removeDataDir,
  startTestEnclave,
} from '../../sandbox/test/support/test-enclave.ts'
import type { Config } from '../../server/src/config.ts'

/** Wallets, signers and policies need no chain. */
const NO_CHAIN = 'http://127.0.0.1:9'

/** The sandbox's enclave, by itself: it keeps wallets, signers and policies, and verifies the owner's signature. */
export interface SandboxEnclave {
  /** Makes a configuration use it. */
  readonly use: (config: Config) => Config
  close(): Promise<void>
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
