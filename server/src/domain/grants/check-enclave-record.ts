import { setTimeout as delay } from 'node:timers/promises'
import { EnclaveRefused } from '../../enclave/errors.ts'
import { compareRules, sameRules, type PolicyComparison, type PolicyRule } from '../../enclave/privy/policy-rules.ts'
import type { WalletSigner } from '../../enclave/privy/wallet-signer.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { listSlots } from '../wallets/slots-store.ts'
import type { WalletSlot } from '../wallets/wallet.ts'
import type { Grant } from './grant.ts'
import type { GrantPlace } from './get-wallet-and-slot.ts'

/** For a moment after a change, the enclave may return an older record, so it is read at most this many times. */
const READS_MAX = 5
/** The pause before the second read; each later pause is `PAUSE_GROWTH` times as long. Together they take 3 seconds. */
const FIRST_PAUSE_MS = 200
const PAUSE_GROWTH = 2

const NOT_FOUND = 404

export type Pause = (milliseconds: number) => Promise<unknown>

interface Signed extends GrantPlace {
  readonly grant: Grant
  /** All rules of the slot's policy after the change. */
  readonly rules: readonly PolicyRule[]
}

/**
 * Reads the enclave's record and compares it with what was signed: the rules of the slot's policy, the owners of the
 * policy and of the wallet, and the wallet's signers, each of which must have only the policy of its slot. The
 * enclave's response alone is not proof that the change was made (D15). The log names the differences, and the fields
 * of the record that this version of the service does not know.
 *
 * Errors: 500 `enclave_record_differs` if the record still differs after `READS_MAX` reads.
 */
export async function checkEnclaveRecord(
  ctx: Pick<Context, 'db' | 'enclave' | 'logger'>,
  { pause = delay, ...signed }: Signed & { pause?: Pause | undefined },
): Promise<void> {
  const { id: grant } = signed.grant
  const slots = await ctx.db.runRelaxed(listSlots(signed.wallet))
  let pauseMs = FIRST_PAUSE_MS
  for (let reads = 1; ; reads += 1) {
    const { differences, ignored } = await readOnce(ctx, { ...signed, slots })
    if (differences.length === 0) {
      if (ignored.length > 0)
        ctx.logger.info({ grant, ignored }, "the enclave's record has fields that this version does not know")
      return
    }
    if (reads === READS_MAX) {
      ctx.logger.error({ grant, differences, ignored }, "the enclave's record does not match what was signed")
      throw problem('enclave_record_differs')
    }
    await pause(pauseMs)
    pauseMs *= PAUSE_GROWTH
  }
}

async function readOnce(
  ctx: Pick<Context, 'enclave'>,
  { wallet, slot, rules, slots }: Signed & { slots: readonly WalletSlot[] },
): Promise<PolicyComparison> {
  const [{ signers, ownerQuorumId }, ofPolicy] = await Promise.all([
    ctx.enclave.readWallet(wallet.enclaveWalletId),
    comparePolicyOf(ctx, { wallet, slot, rules }),
  ])
  const ofWallet = [
    ...(areSlots(signers, slots) ? [] : ['signers of the wallet']),
    ...(ownerQuorumId === wallet.ownerQuorumId ? [] : ['owner of the wallet']),
  ]
  return { differences: [...ofWallet, ...ofPolicy.differences], ignored: ofPolicy.ignored }
}

async function comparePolicyOf(
  ctx: Pick<Context, 'enclave'>,
  { wallet, slot, rules: wanted }: Omit<Signed, 'grant'>,
): Promise<PolicyComparison> {
  try {
    const { rules, ownerId } = await ctx.enclave.readPolicy(slot.policyId)
    const { differences, ignored } = compareRules(rules, wanted)
    const ofOwner = ownerId === wallet.ownerQuorumId ? [] : ['owner of the policy']
    const isNamed = differences.length > 0 || sameRules(rules, wanted)
    return { differences: [...ofOwner, ...differences, ...(isNamed ? [] : ['names of the rules'])], ignored }
  } catch (error) {
    if (error instanceof EnclaveRefused && error.status === NOT_FOUND) {
      return { differences: ['the policy is not found'], ignored: [] }
    }
    throw error
  }
}

/** Returns whether the wallet's signers are those of its slots, and each signer has only the policy of its slot. */
function areSlots(signers: readonly WalletSigner[], slots: readonly WalletSlot[]): boolean {
  const expected = new Map(slots.map(({ signerId, policyId }) => [signerId, policyId]))
  return (
    signers.length === expected.size &&
    signers.every(({ signerId, policyIds }) => policyIds.length === 1 && policyIds[0] === expected.get(signerId))
  )
}
