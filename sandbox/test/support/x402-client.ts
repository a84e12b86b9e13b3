import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'

/** Returns the fetch of the x402 project, with a local key. No limits: our USDC is not the token of its defaults. */
export function openX402Client(payer: PrivateKeyAccount, chainId: number): typeof fetch {
  const schemes = [{ network: `eip155:${chainId}` as const, client: new ExactEvmScheme(payer) }]
  return wrapFetchWithPayment(fetch, x402Client.fromConfig({ schemes, spendControls: false }))
}
