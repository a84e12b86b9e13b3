import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'

/** Returns the fetch of the x402 project, with a local key. Its limits are off: they know only its default token. */
export function openX402Client(payer: PrivateKeyAccount, chainId: number): typeof fetch {
  const schemes = [{ network: `eip155:${chainId}` as const, client: new ExactEvmScheme(payer) }]
  return wrapFetchWithPayment(fetch, x402Client.fromConfig({ schemes, spendControls: false }))
}
