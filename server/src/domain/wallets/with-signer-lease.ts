import { problem, type Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { SIGNATURE_FENCE_MARGIN_MS, isFencedFor, SIGNING_REQUEST_MS, type FencedRequest } from './signing-fence.ts'
import type { Wallet } from './wallet.ts'
import { findSignerLease, releaseSignerLease, takeSignerLease, type LeaseBounds } from './wallets-store.ts'

/** How long a lease lasts. All calls to the enclave that are made while one lease is held take less time together. */
const SIGNER_CHANGE_LEASE_MS = 60_000
/**
 * Twice the longest time that a lease can last. A stored lease that would last even longer was written before the clock
 * was set back, and is ignored.
 */
const LEASE_MS_MAX = 2 * (SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS)

/**
 * A lease is the right to change a wallet's list of signers at the enclave. Only one process has it at a time, until
 * the process releases it or it expires.
 */
export interface SignerLease {
  readonly wallet: Wallet
  /** When the lease expires. We hold the lease only while the wallet's row contains exactly this time. */
  until: Date
  /**
   * Whether a request that we sent may still take effect. If so, the lease is not released, but lasts until it expires.
   */
  mayTakeEffect: boolean
}

/**
 * Runs `work` while holding the lease, which is the right to change the wallet's list of signers at the enclave. Throws
 * 409 `signer_change_under_way` if another caller holds the lease, or while a request whose response was lost may still
 * take effect (decision 0022). If that request is the given `signed` one, `work` runs anyway, because it makes the same
 * change.
 */
export async function withSignerLease<Result>(
  ctx: Pick<Context, 'db' | 'clock'>,
  { wallet, signed = null }: { wallet: Wallet; signed?: FencedRequest | null },
  work: (lease: SignerLease) => Promise<Result>,
): Promise<Result> {
  const lease = await takeLease(ctx, wallet, signed)
  try {
    return await work(lease)
  } finally {
    if (!lease.mayTakeEffect) await ctx.db.write(releaseSignerLease(wallet, lease.until))
  }
}

async function takeLease(
  ctx: Pick<Context, 'db' | 'clock'>,
  wallet: Wallet,
  signed: FencedRequest | null,
): Promise<SignerLease> {
  const span = leaseBounds(ctx.clock.now())
  const until = new Date(span.now.getTime() + SIGNER_CHANGE_LEASE_MS)
  if (await ctx.db.write(takeSignerLease(wallet, until, span))) return { wallet, until, mayTakeEffect: false }
  const held = await ctx.db.read(findSignerLease(wallet, span))
  if (held !== null && signed !== null && isFencedFor(signed, held)) return { wallet, until: held, mayTakeEffect: true }
  throw signerChangeUnderWay(held ?? span.now)
}

export function leaseBounds(now: Date): LeaseBounds {
  return { now, latest: new Date(now.getTime() + LEASE_MS_MAX) }
}

/**
 * Returns the error for a change that must wait, because another change to the wallet's signers is in progress.
 * `retryAt` is the latest time at which the other change ends.
 */
export function signerChangeUnderWay(retryAt: Date): Problem {
  return problem('signer_change_under_way', { details: { retry_at: retryAt.toISOString() } })
}
