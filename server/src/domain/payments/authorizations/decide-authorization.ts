import type { AuthorizationKey } from '../../../chain/authorization-event.ts'
import type { AuthorizationState } from '../../../chain/authorization-reader.ts'
import type { Receipt, ReceiptAuthorization, Transfer } from '../../../chain/parse-receipt.ts'
import type { TxHash } from '../payment.ts'

/** A transaction that ended the authorization, according to the logs, and its receipt. */
export interface Ending {
  readonly txHash: TxHash
  /** Null if no block contains the transaction. */
  readonly receipt: Receipt | null
}

/** What a node showed about one authorization. */
export interface AuthorizationEvidence {
  readonly endings: readonly Ending[]
  /** The head of the node that returned the receipts. */
  readonly head: bigint
  /** The state at the block of the configured depth. */
  readonly state: AuthorizationState
}

interface Block {
  readonly number: bigint
  readonly hash: string
}

export type AuthorizationOutcome =
  | { readonly kind: 'waiting' }
  /** The authorization was used in a block that is not deep enough. */
  | { readonly kind: 'mined'; readonly block: Block }
  | { readonly kind: 'confirmed'; readonly txHash: TxHash; readonly block: Block; readonly logIndex: bigint }
  | { readonly kind: 'failed'; readonly code: 'authorization_canceled' | 'authorization_expired' }
  /** The authorization was used at the configured depth, but not for the transfer that was signed. */
  | { readonly kind: 'transfer_not_found'; readonly txHash: TxHash }

type Found = ReceiptAuthorization & { readonly txHash: TxHash; readonly block: Block; readonly isDeep: boolean }

/**
 * Decides what the chain proves about the authorization of a purchase (D66).
 *
 * The contract accepts each pair of authorizer and nonce once, as a use or as a cancellation. So a use or a
 * cancellation at the configured depth is final. If there is neither, and the authorization was unused in a block at
 * that depth whose time is `validBefore` or later, the authorization has expired: no later block can contain a use.
 *
 * If some evidence shows a use and other evidence shows that there was none, the use decides, because the payment then
 * keeps counting against the limits. A node that lags shows an older block at the depth, so it only delays the
 * decision. A node that lies can end a purchase wrongly, as it can with the receipt of a transfer.
 */
export function decideAuthorization({
  endings,
  head,
  state,
  confirmations,
  expected,
}: AuthorizationEvidence & {
  readonly confirmations: number
  readonly expected: Transfer & AuthorizationKey
}): AuthorizationOutcome {
  const found = endings.flatMap((ending) => findEvents(ending, { head, confirmations, expected }))
  const final = found.find(({ isDeep }) => isDeep)
  if (final?.kind === 'canceled') return { kind: 'failed', code: 'authorization_canceled' }
  if (final !== undefined) return decideUse(final, expected)
  const use = found.find(({ kind }) => kind === 'used')
  if (use !== undefined) return { kind: 'mined', block: use.block }
  const isExpired = state === 'expired' && found.length === 0
  return isExpired ? { kind: 'failed', code: 'authorization_expired' } : { kind: 'waiting' }
}

function findEvents(
  { txHash, receipt }: Ending,
  { head, confirmations, expected }: { head: bigint; confirmations: number; expected: Transfer & AuthorizationKey },
): Found[] {
  if (receipt === null) return []
  const { blockNumber: number, blockHash: hash } = receipt
  const isDeep = head - number + 1n >= BigInt(confirmations)
  return receipt.authorizations
    .filter(
      ({ contract, authorizer, nonce }) =>
        contract === expected.contract && authorizer === expected.authorizer && nonce === expected.nonce,
    )
    .map((event) => ({ ...event, txHash, block: { number, hash }, isDeep }))
}

/**
 * Circle's contract checks the signature of the transfer. So if the receipt shows another transfer, the contract is not
 * Circle's.
 */
function decideUse({ txHash, block, transfer }: Found, expected: Transfer): AuthorizationOutcome {
  if (transfer === null || transfer.to !== expected.to || transfer.amountMicro !== expected.amountMicro)
    return { kind: 'transfer_not_found', txHash }
  return { kind: 'confirmed', txHash, block, logIndex: transfer.logIndex }
}
