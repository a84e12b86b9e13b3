import type { Context } from '../context.ts'
import { isFencedFor } from '../grants/signing-fence.ts'
import { leaseBounds } from '../grants/with-signer-lease.ts'
import type { OwnerRequest } from './owner-request.ts'
import { listOpenOwnerRequests } from './owner-requests-store.ts'
import { findSignerLease } from '../wallets/wallets-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { toFenced } from './queries.ts'

/** At most this many open requests are read, the newest ones. Older requests have expired. */
const REQUESTS_READ_MAX = 20

export interface OpenRequests {
  /** The newest requests that change the owners of a wallet and are not recorded as done, newest first. */
  readonly open: readonly OwnerRequest[]
  /** The open requests whose signature was submitted. The enclave may have carried out one of them. */
  readonly submitted: readonly OwnerRequest[]
  /** The open request that may still take effect, because the enclave's response was lost. Null if there is none. */
  readonly fenced: OwnerRequest | null
}

export async function findOpenRequests(ctx: Pick<Context, 'db' | 'clock'>, wallet: Wallet): Promise<OpenRequests> {
  const [open, held] = await ctx.db.runRelaxedPair(
    listOpenOwnerRequests(wallet, REQUESTS_READ_MAX),
    findSignerLease(wallet, leaseBounds(ctx.clock.now())),
  )
  const submitted = open.filter(({ submittedBy }) => submittedBy !== null)
  const fenced = held === null ? undefined : submitted.find((request) => isFencedFor(toFenced(request), held))
  return { open, submitted, fenced: fenced ?? null }
}
