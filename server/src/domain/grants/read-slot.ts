import type { SlotRules } from '../../enclave/enclave.ts'
import type { Context } from '../context.ts'
import type { GrantPlace } from './get-wallet-and-slot.ts'
import { isEnforced, rulesOf } from './grant-rules.ts'
import { listOthersInSlot } from './grants-store.ts'
import type { Grant, GrantChange } from './grant.ts'

export interface SlotReading {
  /** The rules that the slot has now. */
  readonly before: SlotRules
  /** The rules that it has after the change. */
  readonly after: SlotRules
  /** Whether there is nothing to sign, because the enclave is already in the state that the change leads to. */
  readonly isDone: boolean
}

/** Reads a slot's rules at the enclave, and computes the rules after the change. */
export async function readSlot(
  ctx: Pick<Context, 'db' | 'enclave' | 'chains'>,
  { grant, slot, change }: { grant: Grant; change: GrantChange } & Pick<GrantPlace, 'slot'>,
): Promise<SlotReading> {
  const [others, before] = await Promise.all([ctx.db.read(listOthersInSlot(grant)), ctx.enclave.readRules(slot)])
  const enforcedInstead = others.find((other) => isEnforced(before, other)) ?? null
  const after = change === 'revoke' ? [] : rulesOf(ctx, grant)
  return { before, after, isDone: isDone(before, { grant, change, enforcedInstead }) }
}

function isDone(
  rules: SlotRules,
  { grant, change, enforcedInstead }: { grant: Grant; change: GrantChange; enforcedInstead: Grant | null },
): boolean {
  if (isInEffect(rules, { grant, change })) return true
  // A signed revocation empties the slot. If the enclave enforces another grant in the slot, an empty slot would end
  // that grant, so nothing is signed. Dropping a pending grant that the enclave does not enforce needs no signature.
  return change === 'revoke' && (enforcedInstead !== null || (grant.status === 'pending' && !isEnforced(rules, grant)))
}

/** Returns whether the rules show that an owner has signed this change. */
export function isInEffect(rules: SlotRules, { grant, change }: { grant: Grant; change: GrantChange }): boolean {
  return change === 'activate' ? isEnforced(rules, grant) : rules.length === 0
}
