import type { PolicyRule } from '../../enclave/privy/policy-rules.ts'
import type { Context } from '../context.ts'
import type { GrantPlace } from './get-wallet-and-slot.ts'
import { isEnforced, rulesOf } from './grant-rules.ts'
import { listOthersInSlot } from './grants-store.ts'
import type { Grant, GrantChange } from './grant.ts'

export interface SlotReading {
  /** The rules that the slot's policy has now. */
  readonly before: readonly PolicyRule[]
  /** The rules that it has after the change. */
  readonly after: readonly PolicyRule[]
  /** Whether there is nothing to sign, because the enclave is already in the state that the change leads to. */
  readonly isDone: boolean
  /** Another grant of the same slot that the enclave enforces now. Null if there is none. */
  readonly enforcedInstead: Grant | null
}

/** Reads a slot's policy at the enclave, and computes the rules after the change. */
export async function readSlot(
  ctx: Pick<Context, 'db' | 'enclave' | 'chains'>,
  { grant, slot, change }: { grant: Grant; change: GrantChange } & Pick<GrantPlace, 'slot'>,
): Promise<SlotReading> {
  const [others, { rules: before }] = await Promise.all([
    ctx.db.runRelaxed(listOthersInSlot(grant)),
    ctx.enclave.readPolicy(slot.policyId),
  ])
  const enforcedInstead = others.find((other) => isEnforced(before, other)) ?? null
  const after = change === 'revoke' ? [] : rulesOf(grant, ctx.chains[grant.mode])
  return { before, after, isDone: isDone(before, { grant, change, enforcedInstead }), enforcedInstead }
}

function isDone(
  rules: readonly PolicyRule[],
  { grant, change, enforcedInstead }: { grant: Grant; change: GrantChange; enforcedInstead: Grant | null },
): boolean {
  if (isInEffect(rules, { grant, change })) return true
  // A signed revocation empties the slot. If the enclave enforces another grant in the slot, an empty slot would end
  // that grant, so nothing is signed. Dropping a pending grant that the enclave does not enforce needs no signature.
  return change === 'revoke' && (enforcedInstead !== null || (grant.status === 'pending' && !isEnforced(rules, grant)))
}

/**
 * Returns whether the rules show that an owner has signed this change. The rules never show a resume, because it does
 * not change them.
 */
export function isInEffect(
  rules: readonly PolicyRule[],
  { grant, change }: { grant: Grant; change: GrantChange },
): boolean {
  switch (change) {
    case 'activate':
      return isEnforced(rules, grant)
    case 'resume':
      return false
    case 'revoke':
      return rules.length === 0
  }
}
