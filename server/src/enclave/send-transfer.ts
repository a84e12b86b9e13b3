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
  /** Whether the provider pays the gas. Otherwise the wallet pays it in the chain's own coin. */
  readonly sponsored: boolean
  /** The payment's id. It must be unique at the enclave and have at most 64 characters (D23). */
  readonly referenceId: string
  /** The idempotency key of this attempt (D22). */
  readonly attemptKey: string
  /** By the provider's clock. The provider rejects the request from this time on, so that a lost attempt cannot arrive late. */
  readonly expiresAt: Date
}

export type TransferOutcome =
  /** Signed and accepted for broadcast. A sponsored transfer is accepted before its transaction hash is known (D24). */
  | ({ readonly kind: 'accepted' } & AcceptedTransfer)
  /** The provider rejected this very transfer and signed nothing. `code` is `policy_violation` for its policy. */
  | { readonly kind: 'refused'; readonly status: number | null; readonly code: string; readonly reason: string }
  /** The provider certainly did not send it, and it can be retried. */
  | { readonly kind: 'not_sent'; readonly status: number | null; readonly code: string; readonly reason: string }
  /** The provider may have sent it, or may still send it. `error` says what happened. */
  | { readonly kind: 'unknown'; readonly error: EnclaveUnavailable }

export type AcceptedTransfer = {
  readonly transactionId: string
  readonly txHash: Hash | null
  /** The ERC-4337 user operation that carries a sponsored transfer; null for a plain transaction. */
  readonly userOperationHash: Hash | null
}

const OPERATION = 'a transfer'
/** Our own code for an attempt that expired before it was sent. */
export const REQUEST_EXPIRED = 'request_expired'

/**
 * Asks the enclave to sign and broadcast one USDC transfer. Sends one request and never repeats it. The outcome is decided
 * here and nowhere else (D24). On `unknown`, the caller must look the transfer up by its reference id (D23).
 * @throws RangeError for an amount that is not positive; TypeError for a malformed signer key.
 */
export async function sendTransfer(client: EnclaveClient, order: TransferOrder): Promise<TransferOutcome> {
  const key = client.parseSignerKey(order.signerPrivateKey)
  const data = encodeTransfer(order)
  if (order.expiresAt <= client.clock.now()) {
    return { kind: 'not_sent', status: null, code: REQUEST_EXPIRED, reason: 'expired before it was sent' }
  }
  let response: unknown
  try {
    response = await client.sdk
      .wallets()
      .ethereum()
      .sendTransaction(order.enclaveWalletId, {
        caip2: `eip155:${order.chainId}`,
        sponsor: order.sponsored,
        reference_id: order.referenceId,
        // The policy checks exactly these members. A missing one might not count as zero.
        params: { transaction: { to: order.contract, data, value: '0x0', chain_id: order.chainId } },
        idempotency_key: order.attemptKey,
        request_expiry: order.expiresAt.getTime(),
        // We sign ourselves, because the SDK's own signer is written in JavaScript and takes 30 times as long.
        authorization_context: { sign_fns: [async (payload) => signPayload(key, payload)] },
      })
  } catch (error) {
    return toOutcome(client, readFailure(error))
  }
  const accepted = parseAccepted(response)
  return accepted === null ? toOutcome(client, malformedResponse()) : { kind: 'accepted', ...accepted }
}

function toOutcome(client: EnclaveClient, failure: Failure): TransferOutcome {
  const outcome = decideSendOutcome(failure)
  const { status, code, reason } = failure
  if (outcome !== 'unknown') return { kind: outcome, status, code, reason }
  const error = client.toError(OPERATION, { ...failure, kind: 'unknown' })
  if (!(error instanceof EnclaveUnavailable)) throw error
  return { kind: 'unknown', error }
}

function encodeTransfer({ to, amountMicro }: TransferOrder): string {
  if (amountMicro <= 0n) throw new RangeError('a transfer needs a positive amount')
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amountMicro] })
}

/** Parses the provider's acceptance. `hash` is an empty string while a sponsored transfer has none. */
function parseAccepted(response: unknown): AcceptedTransfer | null {
  if (typeof response !== 'object' || response === null) return null
  const { transaction_id: transactionId, hash, user_operation_hash } = response as Record<string, unknown>
  if (typeof transactionId !== 'string' || transactionId === '') return null
  return { transactionId, txHash: parseTxHash(hash), userOperationHash: parseTxHash(user_operation_hash) }
}
