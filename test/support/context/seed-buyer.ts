import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Context } from '../../../server/src/domain/context.ts'
import { payForResource } from '../../../server/src/domain/purchases/pay-for-resource.ts'
import type { PurchaseState } from '../../../server/src/domain/purchases/work-on-purchase.ts'
import { microUsdc } from '../../../server/src/values/money.ts'
import { usdcDomain } from '../../../server/src/values/transfer-authorization.ts'
import type { Deadline } from '../../../server/src/lib/deadline.ts'
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

/** Buys a resource, and returns the purchase. Requests with the same idempotency key are the same purchase. */
export async function buyAs(
  ctx: Context,
  buyer: Seed,
  { url, key = 'one', deadline }: { readonly url: string; readonly key?: string; readonly deadline?: Deadline },
): Promise<PurchaseState> {
  const terms = {
    ...{ workspaceId: buyer.workspace.id, mode: buyer.mode, agentId: buyer.agentId, wallet: buyer.wallet },
    ...{ maxAmountMicro: microUsdc(1_000_000n), memo: null, idempotencyKey: key },
    ...{ credentialId: null, requestId: null, boundAgentId: null },
  }
  const request = { url, method: 'GET', headers: {}, body: null } as const
  const course = { stopping: new AbortController().signal, onWait: () => undefined }
  const outcome = await payForResource(
    ctx,
    { terms, request },
    deadline === undefined ? course : { ...course, deadline },
  )
  if (outcome.kind === 'free') throw new Error('nothing was bought')
  const state = outcome.kind === 'bought' ? outcome.state : outcome.earlier.state
  if (state === null) throw new Error('this is another purchase')
  return state
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
