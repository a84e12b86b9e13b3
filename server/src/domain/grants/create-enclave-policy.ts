import { createId } from '../../values/ids.ts'
import type { Context } from '../context.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { Grant, GrantPolicy } from './grant.ts'
import { policyName } from './policy-name.ts'

/**
 * Lays a policy down at the enclave, owned by the wallet's owner, and answers the pending grant that it is of, which is
 * to be written yet. It binds nobody: one that is never written is never signed for.
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
