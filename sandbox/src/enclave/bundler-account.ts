import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { EnclaveContext } from './context.ts'
import { BUNDLER } from './records.ts'

export type BundlerAccount = ReturnType<typeof openBundlerAccount>

/**
 * Opens the account that sends user operations to the chains. Its key is generated at first use, and is sealed in the
 * same way as the wallets' keys.
 */
export function openBundlerAccount({ store, vault }: Pick<EnclaveContext, 'store' | 'vault'>) {
  const sealed = store.findKey(BUNDLER)
  const privateKey = sealed === null ? generatePrivateKey() : vault.open(BUNDLER, sealed)
  if (sealed === null) store.addKey(BUNDLER, vault.seal(BUNDLER, privateKey))
  return privateKeyToAccount(privateKey)
}
