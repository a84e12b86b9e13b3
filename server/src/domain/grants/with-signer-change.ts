import type { Context } from '../context.ts'
import { findSignerChange, giveBackSignerChange, takeSignerChange, type LeaseSpan } from '../wallets/wallets-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { StoredSigningRequest } from './grant.ts'
import { signerChangeUnderWay } from './refusal.ts'
import { SIGNATURE_FENCE_MARGIN_MS, isFencedFor, SIGNING_REQUEST_MS } from './signing-request.ts'

/** Longer than the enclave calls that it covers may take. */
const SIGNER_CHANGE_LEASE_MS = 60_000
/** Twice as far as any lease reaches. */
const LEASE_MS_MAX = 2 * (SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS)

/** The lease on a wallet's signer list at the enclave. */
export interface SignerHold {
  readonly wallet: Wallet
  /** It is ours while this stands in the wallet's row. */
  until: Date
  /** A request that we sent may still come into force: the lease is not given back, but ends by itself. */
  mayArrive: boolean
}

/**
 * Holds the wallet's lease on its signer list while `work` runs; 409 `signer_change_under_way` while another has it, or
 * while a request whose answer was lost may come into force (decision 0022). Where that is `signed` itself, it goes on:
 * that one changes the list to what it is asked for anyway.
 */
export async function withSignerChange<Result>(
  ctx: Pick<Context, 'db' | 'clock'>,
  { wallet, signed = null }: { wallet: Wallet; signed?: StoredSigningRequest | null },
  work: (hold: SignerHold) => Promise<Result>,
): Promise<Result> {
  const hold = await takeHold(ctx, wallet, signed)
  try {
    return await work(hold)
  } finally {
    if (!hold.mayArrive) await ctx.db.runDurable(giveBackSignerChange(wallet, hold.until))
  }
}

async function takeHold(
  ctx: Pick<Context, 'db' | 'clock'>,
  wallet: Wallet,
  signed: StoredSigningRequest | null,
): Promise<SignerHold> {
  const span = leaseSpan(ctx.clock.now())
  const until = new Date(span.now.getTime() + SIGNER_CHANGE_LEASE_MS)
  if (await ctx.db.runDurable(takeSignerChange(wallet, until, span))) return { wallet, until, mayArrive: false }
  const held = await ctx.db.runRelaxed(findSignerChange(wallet, span))
  if (held !== null && signed !== null && isFencedFor(signed, held)) return { wallet, until: held, mayArrive: true }
  throw signerChangeUnderWay(held ?? span.now)
}

export function leaseSpan(now: Date): LeaseSpan {
  return { now, latest: new Date(now.getTime() + LEASE_MS_MAX) }
}
