import type { Context } from '../../context.ts'
import { ATTEMPT_MS, PAYMENT_FENCE_MARGIN_MS, type Payment, type TxHash } from '../payment.ts'
import { replaceHash } from '../payments-store.ts'
import { decideMatch } from './decide-match.ts'
import { lookupAfterHash } from './lookup-schedule.ts'
import { countEqualPayments, lockWallet } from './lookups-store.ts'

export type ChainSearch =
  /** The chain holds the transfer. `payment` has the hash of its transaction. */
  | { readonly kind: 'found'; readonly payment: Payment }
  /** The chain was searched far enough to say that the transfer is not there. */
  | { readonly kind: 'absent'; readonly searchedBlock: bigint | null }
  /** Nothing is proven: the search did not reach the head, or what it found may belong to another payment. */
  | { readonly kind: 'unproven'; readonly searchedBlock: bigint | null }

/** How many blocks the next search repeats, because a reorganization may have changed them. */
const OVERLAP_BLOCKS = 16n
/** How far the chain's clock must have moved since the payment was recorded: as long as its request could still arrive. */
const CHAIN_PASSED_SECONDS = BigInt((ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS) / 1_000)

type SearchContext = Pick<Context, 'db' | 'chains' | 'clock'>

/** Searches the chain for the user operation that carries a payment's transfer. Throws `ChainUnavailable`. */
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
  if (last === undefined || last.txHash === payment.txHash) return { kind: 'unproven', searchedBlock: searchedTo }
  const now = ctx.clock.now()
  const change = { now, nextLookupAt: lookupAfterHash(now), userOperationHash: last.hash }
  const adopted = await ctx.db.runDurable(replaceHash(payment, last.txHash, change))
  return adopted === null ? nothingNew(payment) : { kind: 'found', payment: adopted }
}

/**
 * Searches the chain for a Transfer with the payment's wallet, recipient and amount that no other payment accounts for,
 * and records its transaction as the payment's. Equal transfers cannot be told apart, so nothing is concluded while
 * another payment that may have been sent could account for one. Only `absent` allows a caller to send the payment again,
 * or to end it. Throws `ChainUnavailable`.
 */
export async function matchTransfer(ctx: SearchContext, payment: Payment): Promise<ChainSearch> {
  const chain = ctx.chains[payment.mode]
  const { firstBlock } = payment
  const head = await chain.readHead()
  const range = rangeOf(payment, head)
  if (range === null || firstBlock === null) return nothingNew(payment)
  const { walletAddress: from, to, amountMicro } = payment
  const { found, searchedTo, searchedToSeconds } = await chain.findTransfers({ from, to, amountMicro }, range)
  const others = found.filter((hash) => hash !== payment.txHash)
  const match = others.length === 0 ? 'absent' : await adoptMatch(ctx, payment, others)
  if (typeof match === 'object') return { kind: 'found', payment: match }
  // Blocks whose transfers were not conclusive are searched again.
  const searchedBlock = others.length === 0 ? searchedTo : payment.searchedBlock
  const isAtHead = searchedTo >= head && searchedToSeconds !== null
  const hasPassed = isAtHead && searchedToSeconds - (await chain.readBlockSeconds(firstBlock)) >= CHAIN_PASSED_SECONDS
  return { kind: match === 'absent' && hasPassed ? 'absent' : 'unproven', searchedBlock }
}

/** Decides and records under the wallet's lock, so that two payments never get the same transfer. */
async function adoptMatch(
  ctx: SearchContext,
  payment: Payment,
  found: readonly TxHash[],
): Promise<Payment | 'absent' | 'unproven'> {
  return await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const [, others] = await transaction.batch([
      lockWallet(payment),
      countEqualPayments(payment, [...new Set(found)]),
    ] as const)
    const match = decideMatch(found, others)
    if (match === 'absent' || match === 'unproven') return match
    const change = { now, nextLookupAt: lookupAfterHash(now) }
    return (await transaction.run(replaceHash(payment, match, change))) ?? 'unproven'
  })
}

/**
 * Finds out whether another transaction has used the nonce of a plain transaction, deep enough that this one can never be
 * mined. The other transaction may be the provider's own replacement with the same transfer, so the caller searches for
 * it. Throws `ChainUnavailable`.
 */
export async function checkNonce(
  ctx: SearchContext,
  payment: Payment,
  txHash: TxHash,
): Promise<{ readonly senderNonce: bigint | null; readonly nonceUsedAt: bigint | null }> {
  const chain = ctx.chains[payment.mode]
  const sender = payment.walletAddress
  const known = payment.senderNonce === null ? await chain.readSenderNonce(txHash) : null
  // If a bundler sent the transaction, its nonce says nothing about the user operation inside.
  const senderNonce = payment.senderNonce ?? (known?.sender === sender ? known.nonce : null)
  if (senderNonce === null) return { senderNonce, nonceUsedAt: null }
  return { senderNonce, nonceUsedAt: await chain.findNonceUse(txHash, { sender, nonce: senderNonce }) }
}

/** Returns the blocks to search; null if the first one is not known, or is above the head. */
function rangeOf({ firstBlock, searchedBlock }: Payment, head: bigint): { from: bigint; to: bigint } | null {
  if (firstBlock === null) return null
  const again = (searchedBlock ?? -1n) - OVERLAP_BLOCKS
  const from = again > firstBlock ? again : firstBlock
  return from > head ? null : { from, to: head }
}

function nothingNew({ searchedBlock }: Payment): { readonly kind: 'unproven'; readonly searchedBlock: bigint | null } {
  return { kind: 'unproven', searchedBlock }
}
