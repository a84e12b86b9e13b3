import type { WalletSigner } from '../../enclave/signer-change.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { EnclaveRefused } from '../../enclave/errors.ts'
import { comparePolicy, type PolicyComparison } from '../../enclave/policy-rules.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { sameSigners, type Grant, type GrantChange } from './grant.ts'

/** The enclave may return an older record for a moment after a change, so the record is read up to this often. */
const READS_MAX = 5
/** The pause before the second read; each later pause is `PAUSE_GROWTH` times as long. Together they take 3 seconds. */
const FIRST_PAUSE_MS = 200
const PAUSE_GROWTH = 2

const NOT_FOUND = 404

export type Pause = (milliseconds: number) => Promise<unknown>

interface Signed {
  readonly grant: Grant
  readonly wallet: Wallet
  readonly change: GrantChange
  /** The wallet's complete list of signers after the change. */
  readonly signers: readonly WalletSigner[]
}

/** The result of one read, with the list of signers that was read. */
interface Reading extends PolicyComparison {
  readonly signers: readonly WalletSigner[]
}

/**
 * Reads the enclave's record and compares it with what was signed: the signers and their policies, the owners, and the
 * rules of the policy. The enclave's response alone is not proof that the change was made (D15). Returns the signers.
 * The log names the differences, and the fields of the record that this version does not know.
 *
 * Errors: 500 `enclave_record_differs` if the record still differs after `READS_MAX` reads.
 */
export async function checkEnclaveRecord(
  ctx: Pick<Context, 'chains' | 'enclave' | 'logger'>,
  { pause = delay, ...signed }: Signed & { pause?: Pause | undefined },
): Promise<readonly WalletSigner[]> {
  const { id: grant } = signed.grant
  let pauseMs = FIRST_PAUSE_MS
  for (let reads = 1; ; reads += 1) {
    const { signers, differences, ignored } = await readOnce(ctx, signed)
    if (differences.length === 0) {
      if (ignored.length > 0)
        ctx.logger.info({ grant, ignored }, "the enclave's record has fields that this version does not know")
      return signers
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
  ctx: Pick<Context, 'chains' | 'enclave'>,
  { grant, wallet, change, signers: wanted }: Signed,
): Promise<Reading> {
  const { signers, ownerQuorumId } = await ctx.enclave.readWallet(wallet.enclaveWalletId)
  const ofWallet = [
    ...(sameSigners(signers, wanted) ? [] : ['signers of the wallet']),
    ...(ownerQuorumId === wallet.ownerQuorumId ? [] : ['owner of the wallet']),
  ]
  if (change === 'revoke') return { signers, differences: ofWallet, ignored: [] }
  const { differences, ignored } = await comparePolicyOf(ctx, { grant, wallet })
  return { signers, differences: [...ofWallet, ...differences], ignored }
}

async function comparePolicyOf(
  ctx: Pick<Context, 'chains' | 'enclave'>,
  { grant, wallet }: Pick<Signed, 'grant' | 'wallet'>,
): Promise<PolicyComparison> {
  try {
    const { rules, ownerId } = await ctx.enclave.readPolicy(grant.enclavePolicyId)
    const { differences, ignored } = comparePolicy(rules, { ...grant, chainId: ctx.chains[grant.mode].chainId })
    const ofOwner = ownerId === wallet.ownerQuorumId ? [] : ['owner of the policy']
    return { differences: [...ofOwner, ...differences], ignored }
  } catch (error) {
    if (error instanceof EnclaveRefused && error.status === NOT_FOUND) {
      return { differences: ['the policy is not found'], ignored: [] }
    }
    throw error
  }
}
