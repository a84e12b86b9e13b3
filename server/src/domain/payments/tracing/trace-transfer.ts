import type { Context } from '../../context.ts'
import { ATTEMPT_MS, PAYMENT_FENCE_MARGIN_MS, type Payment, type TxHash } from '../payment.ts'
import { replaceHash } from '../payments-store.ts'
import { lookAfterHash } from './look-schedule.ts'
import { countEqualPayments, lockWallet, type EqualPayments } from './tracing-store.ts'

export type Trace =
  /** The chain holds the transfer: the payment, with the hash of its transaction. */
  | { readonly kind: 'found'; readonly payment: Payment }
  /** The chain was searched far enough to say that the transfer is not there. */
  | { readonly kind: 'absent'; readonly searchedBlock: bigint | null }
  /** Nothing is proven: the search did not reach the head, or what it found may belong to another payment. */
  | { readonly kind: 'open'; readonly searchedBlock: bigint | null }

/** Blocks that a search goes over again, since a reorganization may have changed them. */
const OVERLAP_BLOCKS = 16n
/** So long must the chain have gone on since the payment was recorded: as long as its request could arrive. */
const CHAIN_PASSED_SECONDS = BigInt((ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS) / 1_000)

type TraceContext = Pick<Context, 'db' | 'chains' | 'clock'>

/** Looks on the chain for the user operation that carries a payment's transfer. Throws `ChainUnavailable`. */
export async function traceOperation(
  ctx: TraceContext,
  payment: Payment,
  hashes: readonly TxHash[],
): Promise<Exclude<Trace, { kind: 'absent' }>> {
  const chain = ctx.chains[payment.mode]
  const range = rangeOf(payment, await chain.readHead())
  if (range === null) return nothingNew(payment)
  const { found, searchedTo } = await chain.findUserOperations({ sender: payment.walletAddress, hashes }, range)
  const last = found.at(-1)
  if (last === undefined || last.txHash === payment.txHash) return { kind: 'open', searchedBlock: searchedTo }
  const now = ctx.clock.now()
  const change = { now, nextLookAt: lookAfterHash(now), userOperationHash: last.hash }
  const adopted = await ctx.db.runDurable(replaceHash(payment, last.txHash, change))
  return adopted === null ? nothingNew(payment) : { kind: 'found', payment: adopted }
}

/**
 * Looks on the chain for a Transfer of the payment's wallet, payee and amount that no other payment accounts for, and
 * adopts its transaction. Equal transfers cannot be told apart, so nothing is concluded while another payment that may
 * have been sent could account for one. Only `absent` allows a caller to send again, or to end the payment. Throws
 * `ChainUnavailable`.
 */
export async function claimTransfer(ctx: TraceContext, payment: Payment): Promise<Trace> {
  const chain = ctx.chains[payment.mode]
  const { firstBlock } = payment
  const head = await chain.readHead()
  const range = rangeOf(payment, head)
  if (range === null || firstBlock === null) return nothingNew(payment)
  const { walletAddress: from, to, amountMicro } = payment
  const { found, searchedTo, searchedToSeconds } = await chain.findTransfers({ from, to, amountMicro }, range)
  const others = found.filter((hash) => hash !== payment.txHash)
  const decision = others.length === 0 ? 'absent' : await claim(ctx, payment, others)
  if (typeof decision === 'object') return { kind: 'found', payment: decision }
  // What was not conclusive is searched again.
  const searchedBlock = others.length === 0 ? searchedTo : payment.searchedBlock
  const isAtHead = searchedTo >= head && searchedToSeconds !== null
  const hasPassed = isAtHead && searchedToSeconds - (await chain.readBlockSeconds(firstBlock)) >= CHAIN_PASSED_SECONDS
  return { kind: decision === 'absent' && hasPassed ? 'absent' : 'open', searchedBlock }
}

/** Decides and adopts under the wallet's lock, so that two payments never take one transfer. */
async function claim(
  ctx: TraceContext,
  payment: Payment,
  found: readonly TxHash[],
): Promise<Payment | 'absent' | 'open'> {
  return await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const [, others] = await transaction.batch([
      lockWallet(payment),
      countEqualPayments(payment, [...new Set(found)]),
    ] as const)
    const decision = decideClaim(found, others)
    if (decision === 'absent' || decision === 'open') return decision
    return (await transaction.run(replaceHash(payment, decision, { now, nextLookAt: lookAfterHash(now) }))) ?? 'open'
  })
}

/**
 * Decides which transaction holds the payment's own transfer. `absent`: other payments account for every transfer. `open`:
 * one is left, but it may belong to another payment whose transaction is not known.
 */
export function decideClaim(
  found: readonly TxHash[],
  { byTransaction, undecided }: EqualPayments,
): TxHash | 'absent' | 'open' {
  const free = [...new Set(found)].flatMap((hash) => {
    const transfers = found.filter((one) => one === hash).length
    return Array.from({ length: Math.max(transfers - (byTransaction.get(hash) ?? 0), 0) }, () => hash)
  })
  const [first] = free
  if (first === undefined) return 'absent'
  return undecided > 0 ? 'open' : first
}

/**
 * Whether another transaction has used the nonce of a plain transaction, so deep that this one can never be mined. That
 * other one may be the provider's own replacement, with the same transfer: the caller looks for it. Throws
 * `ChainUnavailable`.
 */
export async function traceNonce(
  ctx: TraceContext,
  payment: Payment,
  txHash: TxHash,
): Promise<{ readonly senderNonce: bigint | null; readonly overtakenAt: bigint | null }> {
  const chain = ctx.chains[payment.mode]
  const sender = payment.walletAddress
  const known = payment.senderNonce === null ? await chain.readSenderNonce(txHash) : null
  // Sent by a bundler: the nonce of its transaction says nothing about the user operation inside.
  const senderNonce = payment.senderNonce ?? (known?.sender === sender ? known.nonce : null)
  if (senderNonce === null) return { senderNonce, overtakenAt: null }
  return { senderNonce, overtakenAt: await chain.findOvertaking(txHash, { sender, nonce: senderNonce }) }
}

/** The blocks to search; null when the first one is not known, or is above the head. */
function rangeOf({ firstBlock, searchedBlock }: Payment, head: bigint): { from: bigint; to: bigint } | null {
  if (firstBlock === null) return null
  const again = (searchedBlock ?? -1n) - OVERLAP_BLOCKS
  const from = again > firstBlock ? again : firstBlock
  return from > head ? null : { from, to: head }
}

function nothingNew({ searchedBlock }: Payment): { readonly kind: 'open'; readonly searchedBlock: bigint | null } {
  return { kind: 'open', searchedBlock }
}
