import { problem } from '../../values/problem.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { Context } from '../context.ts'
import { getWalletAndSlot } from './get-wallet-and-slot.ts'
import { grantRevoked } from './grant-problems.ts'
import { isEnforced, rulesAsSigned } from './grant-rules.ts'
import { getGrant } from './queries.ts'
import { parseRuleName } from './rule-name.ts'
import type { SignedTermsState } from './signed-terms-state.ts'

export interface SignedTerms {
  readonly state: SignedTermsState
  /**
   * The 24-hour limit that the owner signed. Null if the owner signed the grant before the limit was part of the
   * signature, or if the enclave has no such limit for this grant.
   */
  readonly dailyCapMicro: MicroUsdc | null
}

/**
 * Reads the rules of an active grant at the enclave, and compares them with the grant's terms. Only an owner can change
 * the rules, so a term that somebody changed in our database is found here, even if only the service enforces it (D79).
 * Logs an error if the terms differ.
 *
 * Errors: 404; 409 `grant_revoked`, `grant_not_active`.
 *
 * @throws EnclaveUnavailable, EnclaveRefused
 */
export async function getSignedTerms(
  ctx: Pick<Context, 'db' | 'enclave' | 'chains' | 'logger'>,
  { workspaceId, grantId }: { workspaceId: string; grantId: string },
): Promise<SignedTerms> {
  const grant = await getGrant(ctx, { workspaceId, grantId })
  if (grant.status === 'revoked') throw grantRevoked(grant)
  if (grant.status === 'pending') throw problem('grant_not_active')
  const { slot } = await getWalletAndSlot(ctx, grant)
  const rules = await ctx.enclave.readRules(slot)
  if (!isEnforced(rules, grant)) return { state: 'not_enforced', dailyCapMicro: null }
  const isSame = ctx.enclave.sameRules(rules, rulesAsSigned(ctx, grant, rules))
  if (!isSame) ctx.logger.error({ grant: grantId }, "a grant's terms differ from those that an owner signed")
  const [name = null] = rules.map((rule) => parseRuleName(rule.name))
  return { state: isSame ? 'same' : 'different', dailyCapMicro: name?.dailyCapMicro ?? null }
}
