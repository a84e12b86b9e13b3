import type { Hash } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import type { Address } from '../values/address.ts'
import { erc20Abi } from '../values/erc20.ts'
import type { MicroUsdc } from '../values/money.ts'
import type { EnclaveClient } from './enclave-client.ts'
import { EnclaveUnavailable } from './errors.ts'
import { malformedResponse, readFailure, type Failure } from './failure.ts'
import { decideSendOutcome } from './send-outcome.ts'
import { signPayload } from './signer-key.ts'
import { parseTxHash } from './transactions.ts'

export type TransferOrder = {
  readonly enclaveWalletId: string
  /** Base64 PKCS8 DER of the agent's signer. Secret. */
  readonly signerPrivateKey: string
  readonly chainId: number
  readonly contract: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** Whether the provider pays the gas; else the wallet pays it in the chain's own coin. */
  readonly sponsored: boolean
  /** The payment's id: unique at the enclave, at most 64 characters (D23). */
  readonly referenceId: string
  /** The attempt's idempotency key (D22). */
  readonly attemptKey: string
  /** By the provider's clock. The provider rejects the request from then on, so a lost attempt can't arrive late. */
  readonly expiresAt: Date
}

export type TransferOutcome =
  /** Signed and on its way. A sponsored send is accepted before its transaction hash is known (D24). */
  | ({ readonly kind: 'accepted' } & AcceptedTransfer)
  /** The provider rejected this very transfer and signed nothing. `code` is `policy_violation` for its policy. */
  | { readonly kind: 'refused'; readonly status: number | null; readonly code: string; readonly reason: string }
  /** The provider certainly did not send it, and it can be retried. */
  | { readonly kind: 'not_sent'; readonly status: number | null; readonly code: string; readonly reason: string }
  /** The provider may have sent it, or may still. `error` tells what was seen. */
  | { readonly kind: 'unknown'; readonly error: EnclaveUnavailable }

export type AcceptedTransfer = {
  readonly transactionId: string
  readonly txHash: Hash | null
  /** Of the ERC-4337 user operation that carries a sponsored send; null for a plain transaction. */
  readonly userOperationHash: Hash | null
}

const OPERATION = 'a transfer'
/** Our own code for an attempt that ran out of time before it was sent. */
export const REQUEST_EXPIRED = 'request_expired'

/**
 * Asks the enclave to sign and broadcast one USDC transfer. One request, never a second one. The outcome is decided here
 * and nowhere else (D24); on `unknown`, look the transfer up by its reference id (D23).
 * @throws RangeError for an amount that is not positive; TypeError for a malformed signer key.
 */
export async function sendTransfer(client: EnclaveClient, order: TransferOrder): Promise<TransferOutcome> {
  const key = client.parseSignerKey(order.signerPrivateKey)
  const data = encodeTransfer(order)
  if (order.expiresAt <= client.clock.now()) {
    return { kind: 'not_sent', status: null, code: REQUEST_EXPIRED, reason: 'expired before it was sent' }
  }
  let answer: unknown
  try {
    answer = await client.sdk
      .wallets()
      .ethereum()
      .sendTransaction(order.enclaveWalletId, {
        caip2: `eip155:${order.chainId}`,
        sponsor: order.sponsored,
        reference_id: order.referenceId,
        // The policy reads these very members, and a missing one is not sure to count as zero.
        params: { transaction: { to: order.contract, data, value: '0x0', chain_id: order.chainId } },
        idempotency_key: order.attemptKey,
        request_expiry: order.expiresAt.getTime(),
        // The SDK's own signer is written in JavaScript and takes 30 times as long.
        authorization_context: { sign_fns: [async (payload) => signPayload(key, payload)] },
      })
  } catch (error) {
    return toAnswer(client, readFailure(error))
  }
  const accepted = parseAccepted(answer)
  return accepted === null ? toAnswer(client, malformedResponse()) : { kind: 'accepted', ...accepted }
}

function toAnswer(client: EnclaveClient, failure: Failure): TransferOutcome {
  const outcome = decideSendOutcome(failure)
  const { status, code, reason } = failure
  if (outcome !== 'unknown') return { kind: outcome, status, code, reason }
  const error = client.raise(OPERATION, { ...failure, kind: 'unknown' })
  if (!(error instanceof EnclaveUnavailable)) throw error
  return { kind: 'unknown', error }
}

function encodeTransfer({ to, amountMicro }: TransferOrder): string {
  if (amountMicro <= 0n) throw new RangeError('a transfer needs a positive amount')
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amountMicro] })
}

/** `hash` is an empty string while a sponsored send has none. */
function parseAccepted(answer: unknown): AcceptedTransfer | null {
  if (typeof answer !== 'object' || answer === null) return null
  const { transaction_id: transactionId, hash, user_operation_hash } = answer as Record<string, unknown>
  if (typeof transactionId !== 'string' || transactionId === '') return null
  return { transactionId, txHash: parseTxHash(hash), userOperationHash: parseTxHash(user_operation_hash) }
}
