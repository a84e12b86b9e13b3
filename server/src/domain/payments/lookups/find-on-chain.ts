import type { BlockRange } from '../../../chain/block-ranges.ts'
import type { LogSearch, SearchRange } from '../../../chain/search-reader.ts'
import type { Context } from '../../context.ts'
import {
  ATTEMPT_MS,
  PAYMENT_FENCE_MARGIN_MS,
  WITHDRAWAL_REQUEST_MS,
  type Payment,
  type PaymentKind,
  type TxHash,
} from '../payment.ts'
import { replaceHash } from '../payments-store.ts'
import { decideMatch } from './decide-match.ts'
import { lookupAfterHash } from './lookup-schedule.ts'
import { lockWallet } from '../../wallets/wallets-store.ts'
import { countEqualPayments } from './lookups-store.ts'

export type ChainSearch =
  /** The chain contains the transfer. `payment` has the hash of its transaction. */
  | { readonly kind: 'found'; readonly payment: Payment }
  /** The search reached far enough to prove that the chain does not contain the transfer. */
  | ({ readonly kind: 'absent'; readonly searchedTo: bigint } & SearchProgress)
  /**
   * Nothing is proven. Either the search did not reach the head of the chain, or the transfers that it found may belong
   * to other payments.
   */
  | ({ readonly kind: 'unproven' } & SearchProgress)

export interface SearchProgress {
  /** The last block that the next search need not repeat. */
  readonly searchedBlock: bigint | null
  /** Whether the search stopped before the head, so that the next one should follow soon. */
  readonly isUnfinished: boolean
}

/**
 * The newest blocks are searched again by the next search, because a reorganization may change them, and a machine that
 * lags may have left out their logs.
 */
const SEARCHED_AGAIN_BLOCKS = 16n
/**
 * Before a transfer counts as absent, this many blocks after the payment's first block are read by their hashes, so that
 * no log can be missing. That is ten minutes on Base, longer than any request for the payment can arrive.
 */
const PROVEN_BLOCKS_MAX = 300n
/**
 * How far the chain's own time must have moved since the payment was recorded, before we conclude that the transfer is
 * absent. For this long, the payment's request could still arrive at the enclave. The timestamps of the blocks are the
 * chain's own time.
 */
const CHAIN_PASSED_SECONDS: Readonly<Record<Exclude<PaymentKind, 'x402'>, bigint>> = {
  transfer: BigInt((ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS) / 1_000),
  withdrawal: BigInt((WITHDRAWAL_REQUEST_MS + PAYMENT_FENCE_MARGIN_MS) / 1_000),
}

type SearchContext = Pick<Context, 'db' | 'chains' | 'clock'>

/**
 * Searches the chain for a payment's user operation, which contains its transfer. `hashes` are the possible hashes of
 * this user operation. If the search finds a transaction that was not known, records it as the payment's transaction.
 * Throws `ChainUnavailable`.
 */
export async function searchOperation(
  ctx: SearchContext,
  payment: Payment,
  hashes: readonly TxHash[],
): Promise<Exclude<ChainSearch, { kind: 'absent' }>> {
  const chain = ctx.chains[payment.mode]
  const range = rangeOf(payment, await chain.readHead())
  if (range === null) return nothingNew(payment)
  const { found, searchedTo } = await chain.findUserOperations({ sender: payment.walletAddress, hashes }, range)
  const last = found.at(-1)
  if (last === undefined || last.txHash === payment.txHash)
    return { kind: 'unproven', ...progressOf(payment, range, searchedTo) }
  const now = ctx.clock.now()
  const change = { now, nextLookupAt: lookupAfterHash(now), userOperationHash: last.hash }
  const adopted = await ctx.db.write(replaceHash(payment, last.txHash, change))
  return adopted === null ? nothingNew(payment) : { kind: 'found', payment: adopted }
}

/**
 * Searches the chain for a Transfer log that has the payment's wallet, recipient and amount, and belongs to no other
 * payment. Records the log's transaction as the payment's transaction. Two equal transfers cannot be told apart. So if
 * another equal payment may have been sent and its transaction is not known, a transfer that is found proves nothing.
 * Only the result `absent` allows the caller to send the payment again, or to fail it. Throws `ChainUnavailable`.
 */
export async function matchTransfer(ctx: SearchContext, payment: Payment): Promise<ChainSearch> {
  const chain = ctx.chains[payment.mode]
  const { firstBlock, kind } = payment
  // A purchase is not searched for. It ends by its authorization.
  if (kind === 'x402') return nothingNew(payment)
  const head = await chain.readHead()
  const range = rangeOf(payment, head)
  if (range === null || firstBlock === null) return nothingNew(payment)
  const { match, search } = await searchTransfer(ctx, payment, range)
  if (typeof match === 'object') return { kind: 'found', payment: match }
  // If transfers were found but none could be assigned, the same blocks have to be searched again.
  const progress = match === 'none' ? progressOf(payment, range, search.searchedTo) : nothingNew(payment)
  const { searchedTo, searchedToSeconds } = search
  const isAtHead = searchedTo >= head && searchedToSeconds !== null
  const hasPassed =
    isAtHead && searchedToSeconds - (await chain.readBlockSeconds(firstBlock)) >= CHAIN_PASSED_SECONDS[kind]
  if (match === 'unproven' || !hasPassed) return { ...progress, kind: 'unproven' }
  // A list without the transfer may have come from a machine that lags, so it proves nothing.
  const last = firstBlock + PROVEN_BLOCKS_MAX - 1n
  const to = last < head ? last : head
  const proof = await searchTransfer(ctx, payment, { from: firstBlock, to, byHash: true })
  if (typeof proof.match === 'object') return { kind: 'found', payment: proof.match }
  if (proof.match === 'unproven' || proof.search.searchedTo < to) return nothingNew(payment)
  return { ...progress, kind: 'absent', searchedTo }
}

/**
 * Searches a range of blocks for the payment's transfer, and decides which of the found transfers is the payment's own.
 * `match` is `none` if no transfer was found that is not known already, and `absent` if all that were found belong to
 * other payments.
 */
async function searchTransfer(
  ctx: SearchContext,
  payment: Payment,
  range: SearchRange,
): Promise<{ match: Payment | 'none' | 'absent' | 'unproven'; search: LogSearch<TxHash> }> {
  const { walletAddress: from, to, amountMicro } = payment
  const search = await ctx.chains[payment.mode].findTransfers({ from, to, amountMicro }, range)
  const others = search.found.filter((hash) => hash !== payment.txHash)
  return { match: others.length === 0 ? 'none' : await adoptMatch(ctx, payment, others), search }
}

/**
 * Decides which found transaction is the payment's own and records it. Holds the lock on the wallet meanwhile, so that
 * two payments never get the same transfer.
 */
async function adoptMatch(
  ctx: SearchContext,
  payment: Payment,
  found: readonly TxHash[],
): Promise<Payment | 'absent' | 'unproven'> {
  return await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const [, others] = await transaction.batch([
      lockWallet(payment.workspaceId, payment.mode, payment.walletAddress),
      countEqualPayments(payment, [...new Set(found)]),
    ] as const)
    const match = decideMatch(found, others)
    if (match === 'absent' || match === 'unproven') return match
    const change = { now, nextLookupAt: lookupAfterHash(now) }
    return (await transaction.run(replaceHash(payment, match, change))) ?? 'unproven'
  })
}

/**
 * Finds out whether another transaction has used the nonce of the payment's plain transaction. The other transaction
 * must be deep enough in the chain that the payment's transaction can never be mined. The other transaction may be the
 * enclave's replacement with the same transfer, so the caller has to search for this transfer. Throws
 * `ChainUnavailable`.
 */
export async function checkNonce(
  ctx: SearchContext,
  payment: Payment,
  txHash: TxHash,
): Promise<{ readonly senderNonce: bigint | null; readonly nonceUsedAt: bigint | null }> {
  const chain = ctx.chains[payment.mode]
  const sender = payment.walletAddress
  const known = payment.senderNonce === null ? await chain.readSenderNonce(txHash) : null
  // If the transaction was sent by a bundler and not by the wallet, its nonce proves nothing about the user operation
  // inside.
  const senderNonce = payment.senderNonce ?? (known?.sender === sender ? known.nonce : null)
  if (senderNonce === null) return { senderNonce, nonceUsedAt: null }
  return { senderNonce, nonceUsedAt: await chain.findNonceUse(txHash, { sender, nonce: senderNonce }) }
}

/** Returns the range of blocks to search. Returns null if the first block is not known or is above the head. */
function rangeOf({ firstBlock, searchedBlock }: Payment, head: bigint): BlockRange | null {
  if (firstBlock === null) return null
  const next = (searchedBlock ?? -1n) + 1n
  const from = next > firstBlock ? next : firstBlock
  return from > head ? null : { from, to: head }
}

/** Returns how far the search of a range came that ends at the head. */
function progressOf({ searchedBlock }: Payment, { to: head }: BlockRange, searchedTo: bigint): SearchProgress {
  const settled = head - SEARCHED_AGAIN_BLOCKS
  const reached = searchedTo < settled ? searchedTo : settled
  const isFurther = reached >= 0n && reached > (searchedBlock ?? -1n)
  return { searchedBlock: isFurther ? reached : searchedBlock, isUnfinished: searchedTo < head }
}

function nothingNew({ searchedBlock }: Payment): { readonly kind: 'unproven' } & SearchProgress {
  return { kind: 'unproven', searchedBlock, isUnfinished: false }
}
