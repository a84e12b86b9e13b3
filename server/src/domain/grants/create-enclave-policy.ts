import { createId } from '../../values/ids.ts'
import type { Context } from '../context.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { Grant, GrantPolicy } from './grant.ts'
import { policyName } from './policy-name.ts'

/**
 * Creates a policy at the enclave, owned by the wallet's owner, and returns the pending grant for it, which the caller
 * stores. The policy has no effect yet: if the grant is never stored, nobody can sign for it.
 */
export async function createEnclavePolicy(
  ctx: Pick<Context, 'enclave' | 'chains'>,
  {
    wallet,
    agentId,
    policy,
    replaces,
    createdAt,
  }: { wallet: Wallet; agentId: string; policy: GrantPolicy; replaces: string | null; createdAt: Date },
): Promise<Grant> {
  const { accountId, mode, address, ownerQuorumId } = wallet
  const id = createId('grant', createdAt)
  const { policyId } = await ctx.enclave.createPolicy({
    name: policyName(agentId),
    ownerQuorumId,
    terms: { chainId: ctx.chains[mode].chainId, ...policy },
    idempotencyKey: id,
  })
  return {
    ...policy,
    id,
    accountId,
    mode,
    agentId,
    walletAddress: address,
    status: 'pending',
    enclavePolicyId: policyId,
    signingRequest: null,
    createdAt,
    activatedAt: null,
    suspendedAt: null,
    revokedAt: null,
    replaces,
    replacedBy: null,
    activatedBy: null,
  }
}
