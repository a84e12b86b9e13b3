// oxlint-disable no-restricted-globals -- the client of the x402 project sends its own requests with this function
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'

/**
 * Returns the `fetch` of the x402 project, which pays with the key of `payer`. Its spending limits are turned off,
 * because they allow only tokens that the project knows, and our USDC is not one of them.
 */
export function openX402Client(payer: PrivateKeyAccount, chainId: number): typeof fetch {
  const schemes = [{ network: `eip155:${chainId}` as const, client: new ExactEvmScheme(payer) }]
  return wrapFetchWithPayment(fetch, x402Client.fromConfig({ schemes, spendControls: false }))
}
