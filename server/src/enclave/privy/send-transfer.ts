import { formatRequestForAuthorizationSignature } from '@privy-io/node'
import { encodeFunctionData } from 'viem/utils'
import type { Address } from '../../values/address.ts'
import { erc20Abi } from '../../values/erc20.ts'
import {
  REQUEST_EXPIRED,
  type AcceptedTransfer,
  type OwnerTransfer,
  type RequestToSign,
  type TransferDetails,
  type TransferOrder,
  type TransferOutcome,
} from '../enclave.ts'
import { EnclaveUnavailable } from '../errors.ts'
import type { EnclaveClient } from './enclave-client.ts'
import { malformedResponse, readFailure, type Failure } from './failure.ts'
import { decideSendOutcome } from './send-outcome.ts'
import { checkId, formatAssertion, type EnclaveAddress } from './request-to-sign.ts'
import { signPayload } from './signer-key.ts'
import { parseEnclaveId, parseTxHash } from './transactions.ts'

const OPERATION = 'a transfer'

/** Makes one request and never repeats it. The outcome is decided here and nowhere else (D24). */
export async function sendTransfer(client: EnclaveClient, order: TransferOrder): Promise<TransferOutcome> {
  const key = client.parseSignerKey(order.signerPrivateKey)
  // We sign ourselves, because the SDK's own signer is written in JavaScript and takes 30 times as long.
  return await send(client, order, { sign_fns: [async (payload) => signPayload(key, payload)] })
}

export function prepareTransfer(client: EnclaveClient, transfer: OwnerTransfer): RequestToSign<TransferOutcome> {
  return {
    payload: buildTransferPayload(client, transfer),
    submit: async (assertion) => send(client, transfer, { signatures: [formatAssertion(assertion)] }),
  }
}

/** The canonical form of the complete request (RFC 8785), as it will be sent. */
function buildTransferPayload({ apiUrl, appId }: EnclaveAddress, transfer: OwnerTransfer): Uint8Array {
  return formatRequestForAuthorizationSignature({
    version: 1,
    method: 'POST',
    url: `${apiUrl}/v1/wallets/${checkId(transfer.enclaveWalletId)}/rpc`,
    body: { method: 'eth_sendTransaction', chain_type: 'ethereum', ...buildBody(transfer) },
    headers: {
      'privy-app-id': appId,
      'privy-idempotency-key': transfer.attemptKey,
      'privy-request-expiry': String(transfer.expiresAt.getTime()),
    },
  })
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
