import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Context } from '../../../server/src/domain/context.ts'
import { usdcDomain } from '../../../server/src/values/transfer-authorization.ts'
import type { FakeEnclave } from '../wires/fake-enclave.ts'
import { address, RECIPIENT, seed, type Seed, type SeedOptions } from './seed.ts'

/** Seeds an agent whose grant allows purchases, and a wallet. The fake enclave signs with the key of this wallet. */
export async function seedBuyer(
  { context, enclave }: { readonly context: Context; readonly enclave: FakeEnclave },
  options: SeedOptions = {},
): Promise<Seed> {
  const privateKey = generatePrivateKey()
  const wallet = address(privateKeyToAccount(privateKey).address)
  enclave.walletKeys.set(wallet.toLowerCase(), privateKey)
  return await seed(context, { x402: true, wallet, ...options })
}

/** Makes an offer of x402 version 2 that the service can pay. */
export function offerOf(
  { chains }: Pick<Context, 'chains'>,
  changes: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const { chainId, usdc } = chains.test
  const { name, version } = usdcDomain(chainId, usdc)
  return {
    ...{ scheme: 'exact', network: `eip155:${chainId}`, amount: '10000', asset: usdc, payTo: RECIPIENT },
    ...{ maxTimeoutSeconds: 60, extra: { name, version } },
    ...changes,
  }
}
