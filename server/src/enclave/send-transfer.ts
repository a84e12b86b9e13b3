import type { Hash } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import type { Clock } from '../lib/clock.ts'
import type { Address } from '../values/address.ts'
import { erc20Abi } from '../values/erc20.ts'
import type { MicroUsdc } from '../values/money.ts'
import type { EnclaveClient } from './enclave-client.ts'
import { malformedAnswer, readFailure, type Failure } from './failure.ts'
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
  /** The payment's id: unique at the enclave, at most 64 characters (D23). */
  readonly referenceId: string
  /** The attempt's idempotency key (D22). */
  readonly attemptKey: string
  /** The enclave refuses the request from then on, so an attempt that got lost can't arrive late. */
  readonly expiresAt: Date
}

export type TransferAnswer =
  /** Signed and on its way; the hash is null as long as a sponsored send has none (D24). */
  | { readonly kind: 'accepted'; readonly transactionId: string; readonly txHash: Hash | null }
  /** Surely not signed. `code` is `policy_violation` for a refusal by policy; `reason` is the enclave's sentence. */
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }

const OPERATION = 'a transfer'

/**
 * Has the enclave sign and broadcast one USDC transfer, with the gas sponsored. One request, never a second one.
 * @throws EnclaveUnavailable when the outcome is not known: look the transfer up by its reference id (D23).
 */
export async function sendTransfer(
  client: EnclaveClient,
  { clock }: { clock: Clock },
  order: TransferOrder,
): Promise<TransferAnswer> {
  const key = client.parseSignerKey(order.signerPrivateKey)
  const data = encodeTransfer(order)
  if (order.expiresAt <= clock.now()) throw client.raise(OPERATION, EXPIRED)
  let answer: unknown
  try {
    answer = await client.sdk
      .wallets()
      .ethereum()
      .sendTransaction(order.enclaveWalletId, {
        caip2: `eip155:${order.chainId}`,
        sponsor: true,
        reference_id: order.referenceId,
        // The policy reads these very members, and a missing one is not sure to count as zero.
        params: { transaction: { to: order.contract, data, value: '0x0', chain_id: order.chainId } },
        idempotency_key: order.attemptKey,
        request_expiry: order.expiresAt.getTime(),
        // The SDK's own signer is written in JavaScript and takes 30 times as long.
        authorization_context: { sign_fns: [async (payload) => signPayload(key, payload)] },
      })
  } catch (error) {
    const failure = readFailure(error)
    if (failure.kind === 'unknown' || isAmbiguous(failure) || isAboutUs(failure))
      throw client.raise(OPERATION, { ...failure, kind: 'unknown' })
    return { kind: 'refused', code: failure.code, reason: failure.reason }
  }
  const accepted = parseAccepted(answer)
  if (accepted === null) throw client.raise(OPERATION, malformedAnswer())
  return accepted
}

const EXPIRED: Failure = {
  kind: 'unknown',
  status: null,
  code: 'request_expired',
  reason: 'expired before it was sent',
}

/**
 * Refusals of this attempt that tell nothing about an earlier one of the same payment: the request came too late, its
 * reference id is taken, or its idempotency key was used with another body.
 */
function isAmbiguous({ status, code, reason }: Failure): boolean {
  if (code === 'request_expired' || code === 'resource_already_exists' || code === 'resource_conflict') return true
  if (status !== 400 && status !== 422) return false
  return (
    /reference_id.*\b(unique|already|exists|duplicate|taken|in use|used)\b/i.test(reason) ||
    /idempotency key was reused/i.test(reason)
  )
}

/**
 * Not the payment was refused, but our way of asking: our credentials, the address, the form. Whoever mends that can
 * retry, so the payment must not end by it. A 401 for the signer's own signature is a refusal: the signer was removed.
 */
function isAboutUs({ status, reason }: Failure): boolean {
  if (status === 401) return !/authorization.signature/i.test(reason)
  return status !== null && [402, 404, 405, 413, 414, 415, 431].includes(status)
}

function encodeTransfer({ to, amountMicro }: TransferOrder): string {
  if (amountMicro <= 0n) throw new RangeError('a transfer needs a positive amount')
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amountMicro] })
}

/** `hash` is an empty string while a sponsored send has none. */
function parseAccepted(answer: unknown): TransferAnswer | null {
  if (typeof answer !== 'object' || answer === null) return null
  const { transaction_id: transactionId, hash } = answer as Record<string, unknown>
  if (typeof transactionId !== 'string' || transactionId === '') return null
  return { kind: 'accepted', transactionId, txHash: parseTxHash(hash) }
}
