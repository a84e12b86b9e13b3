import type { Context } from '../context.ts'
import { findSignerLease, releaseSignerLease, takeSignerLease, type LeaseBounds } from '../wallets/wallets-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { StoredSigningRequest } from './grant.ts'
import { signerChangeUnderWay } from './grant-problems.ts'
import { SIGNATURE_FENCE_MARGIN_MS, isFencedFor, SIGNING_REQUEST_MS } from './signing-request.ts'

/** Longer than the enclave calls made under the lease may take. */
const SIGNER_CHANGE_LEASE_MS = 60_000
/** Twice the longest lease. A lease that ends later was written before the clock was set back. */
const LEASE_MS_MAX = 2 * (SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS)

/** A lease on changing a wallet's list of signers at the enclave. */
export interface SignerLease {
  readonly wallet: Wallet
  /** The lease is ours while the wallet's row contains this time. */
  until: Date
  /** A request that we sent may still take effect. The lease is then not released; it expires by itself. */
  mayTakeEffect: boolean
}

/**
 * Runs `work` while holding the lease on the wallet's signers. Throws 409 `signer_change_under_way` if somebody else
 * holds it, or while a request whose response was lost may still take effect (decision 0022). If that request is
 * `signed` itself, `work` runs anyway, because it makes the same change.
 */
export async function withSignerLease<Result>(
  ctx: Pick<Context, 'db' | 'clock'>,
  { wallet, signed = null }: { wallet: Wallet; signed?: StoredSigningRequest | null },
  work: (lease: SignerLease) => Promise<Result>,
): Promise<Result> {
  const lease = await takeLease(ctx, wallet, signed)
  try {
    return await work(lease)
  } finally {
    if (!lease.mayTakeEffect) await ctx.db.runDurable(releaseSignerLease(wallet, lease.until))
  }
}

async function takeLease(
  ctx: Pick<Context, 'db' | 'clock'>,
  wallet: Wallet,
  signed: StoredSigningRequest | null,
): Promise<SignerLease> {
  const span = leaseBounds(ctx.clock.now())
  const until = new Date(span.now.getTime() + SIGNER_CHANGE_LEASE_MS)
  if (await ctx.db.runDurable(takeSignerLease(wallet, until, span))) return { wallet, until, mayTakeEffect: false }
  const held = await ctx.db.runRelaxed(findSignerLease(wallet, span))
  if (held !== null && signed !== null && isFencedFor(signed, held)) return { wallet, until: held, mayTakeEffect: true }
  throw signerChangeUnderWay(held ?? span.now)
}

export function leaseBounds(now: Date): LeaseBounds {
  return { now, latest: new Date(now.getTime() + LEASE_MS_MAX) }
}
