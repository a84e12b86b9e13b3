import { formatRequestForAuthorizationSignature } from '@privy-io/node'
import type { Hash } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import type { Address } from '../../values/address.ts'
import { erc20Abi } from '../../values/erc20.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { EnclaveClient } from './enclave-client.ts'
import { EnclaveUnavailable } from '../errors.ts'
import { malformedResponse, readFailure, type Failure } from './failure.ts'
import { decideSendOutcome } from './send-outcome.ts'
import { checkId, formatAssertion, type OwnerAssertion } from './signable-request.ts'
import { signPayload } from './signer-key.ts'
import { parseEnclaveId, parseTxHash } from './transactions.ts'

export type TransferDetails = {
  readonly enclaveWalletId: string
  readonly chainId: number
  readonly contract: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** Whether the enclave's provider pays the gas. Otherwise the wallet pays it in the chain's native coin. */
  readonly sponsored: boolean
  /** The payment's id. It must be unique at the enclave and have at most 64 characters (D23). */
  readonly referenceId: string
  /** The idempotency key of this attempt (D22). */
  readonly attemptKey: string
  /**
   * From this time on, by the enclave's clock, the enclave rejects the request, so that a delayed request cannot send
   * the transfer later.
   */
  readonly expiresAt: Date
}

/** A transfer that a signer of the wallet signs, within its policy. */
export type TransferOrder = TransferDetails & {
  /** Base64 PKCS8 DER of the signer's key. Secret. */
  readonly signerPrivateKey: string
}

/** A transfer that an owner of the wallet signs. No policy limits it. */
export type OwnerTransfer = TransferDetails & {
  /** The wallet's address. The signer page shows it to the owner, so it is part of what the owner signs. */
  readonly from: Address
}

export type TransferOutcome =
  /**
   * The enclave has signed the transfer and will broadcast it. The hash of a sponsored transfer is not known yet (D24).
   */
  | ({ readonly kind: 'accepted' } & AcceptedTransfer)
  /**
   * The enclave rejected this transfer and signed nothing. If a policy was the reason, `code` is `policy_violation`.
   */
  | { readonly kind: 'refused'; readonly status: number | null; readonly code: string; readonly reason: string }
  /** The enclave certainly did not send the transfer. It can be retried. */
  | { readonly kind: 'not_sent'; readonly status: number | null; readonly code: string; readonly reason: string }
  /** The enclave may have sent the transfer, or may still send it. `error` says what happened. */
  | { readonly kind: 'unknown'; readonly error: EnclaveUnavailable }

export type AcceptedTransfer = {
  readonly transactionId: string
  readonly txHash: Hash | null
  /** The hash of the ERC-4337 user operation that contains a sponsored transfer; null for a plain transaction. */
  readonly userOperationHash: Hash | null
}

const OPERATION = 'a transfer'
/** Our own code for a request that expired before we sent it. */
export const REQUEST_EXPIRED = 'request_expired'

/**
 * Asks the enclave to sign and broadcast one USDC transfer. Makes one request and never repeats it. The outcome is
 * decided here and nowhere else (D24). If it is `unknown`, the caller must look up the transfer by its reference id
 * (D23).
 * @throws RangeError for an amount that is not positive; TypeError for a malformed signer key.
 */
export async function sendTransfer(client: EnclaveClient, order: TransferOrder): Promise<TransferOutcome> {
  const key = client.parseSignerKey(order.signerPrivateKey)
  // We sign ourselves, because the SDK's own signer is written in JavaScript and takes 30 times as long.
  return await send(client, order, { sign_fns: [async (payload) => signPayload(key, payload)] })
}

/**
 * Sends a transfer that an owner's passkey has signed. The request is exactly the one that `buildOwnerTransfer`
 * described, because the owner signed that request. In all other ways, this is the same as `sendTransfer`.
 * @throws RangeError for an amount that is not positive; TypeError for an assertion that is not base64url.
 */
export async function sendOwnerTransfer(
  client: EnclaveClient,
  { assertion, ...order }: OwnerTransfer & { readonly assertion: OwnerAssertion },
): Promise<TransferOutcome> {
  return await send(client, order, { signatures: [formatAssertion(assertion)] })
}

/**
 * Builds the challenge for the passkey of an owner who sends a transfer: the canonical form of the complete request
 * (RFC 8785), as `sendOwnerTransfer` will send it. Equal input gives equal bytes.
 */
export function buildOwnerTransfer(
  { apiUrl, appId }: { apiUrl: string; appId: string },
  order: OwnerTransfer,
): { challenge: Uint8Array } {
  const challenge = formatRequestForAuthorizationSignature({
    version: 1,
    method: 'POST',
    url: `${apiUrl}/v1/wallets/${checkId(order.enclaveWalletId)}/rpc`,
    body: { method: 'eth_sendTransaction', chain_type: 'ethereum', ...buildBody(order) },
    headers: {
      'privy-app-id': appId,
      'privy-idempotency-key': order.attemptKey,
      'privy-request-expiry': String(order.expiresAt.getTime()),
    },
  })
  return { challenge }
}

type AuthorizationContext = Parameters<
  ReturnType<ReturnType<EnclaveClient['sdk']['wallets']>['ethereum']>['sendTransaction']
>[1]['authorization_context']

async function send(
  client: EnclaveClient,
  order: TransferDetails & { readonly from?: Address },
  authorization: NonNullable<AuthorizationContext>,
): Promise<TransferOutcome> {
  const body = buildBody(order)
  if (order.expiresAt <= client.clock.now()) {
    return { kind: 'not_sent', status: null, code: REQUEST_EXPIRED, reason: 'expired before it was sent' }
  }
  let response: unknown
  try {
    response = await client.sdk
      .wallets()
      .ethereum()
      .sendTransaction(order.enclaveWalletId, {
        ...body,
        idempotency_key: order.attemptKey,
        request_expiry: order.expiresAt.getTime(),
        authorization_context: authorization,
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

function buildBody(order: TransferDetails & { readonly from?: Address }) {
  const { chainId, contract, sponsored, referenceId, from } = order
  return {
    caip2: `eip155:${chainId}`,
    sponsor: sponsored,
    reference_id: referenceId,
    params: {
      transaction: {
        // A policy checks exactly these members. A missing one might not count as zero.
        to: contract,
        data: encodeTransfer(order),
        value: '0x0',
        chain_id: chainId,
        ...(from === undefined ? {} : { from }),
      },
    },
  }
}

function encodeTransfer({ to, amountMicro }: TransferDetails): string {
  if (amountMicro <= 0n) throw new RangeError('a transfer needs a positive amount')
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amountMicro] })
}

/**
 * Parses the response to a transfer that was accepted. `hash` is an empty string while a sponsored transfer has no
 * hash.
 */
function parseAccepted(response: unknown): AcceptedTransfer | null {
  if (typeof response !== 'object' || response === null) return null
  const { transaction_id: id, hash, user_operation_hash } = response as Record<string, unknown>
  const transactionId = parseEnclaveId(id)
  if (transactionId === null) return null
  return { transactionId, txHash: parseTxHash(hash), userOperationHash: parseTxHash(user_operation_hash) }
}
