import type { Hex } from 'viem'
import { AUTHORIZATION_PRIMARY_TYPE, AUTHORIZATION_TYPES } from '../../values/transfer-authorization.ts'
import { REQUEST_EXPIRED, type AuthorizationOrder, type SigningAnswer } from '../enclave.ts'
import { EnclaveUnavailable } from '../errors.ts'
import type { EnclaveClient } from './enclave-client.ts'
import { malformedResponse, readFailure, type Failure } from './failure.ts'
import { decideSigningOutcome } from './signing-outcome.ts'
import { signPayload } from './signer-key.ts'

const OPERATION = 'a signature'
/** A seller gets the signature in a header, so its length is limited. All known wrapped signatures are below 1 KB. */
const SIGNATURE_CHARS_MAX = 4_096
const SIGNATURE_PATTERN = /^0x(?:[0-9a-fA-F]{2}){64,}$/

/** Makes one request and never repeats it. */
export async function signAuthorization(client: EnclaveClient, order: AuthorizationOrder): Promise<SigningAnswer> {
  const key = client.parseSignerKey(order.signerPrivateKey)
  const body = buildBody(order)
  if (order.expiresAt <= client.clock.now()) {
    return { kind: 'not_signed', status: null, code: REQUEST_EXPIRED, reason: 'expired before it was sent' }
  }
  let response: unknown
  try {
    response = await client.sdk
      .wallets()
      .ethereum()
      .signTypedData(order.enclaveWalletId, {
        ...body,
        idempotency_key: order.attemptKey,
        request_expiry: order.expiresAt.getTime(),
        authorization_context: { sign_fns: [async (payload) => signPayload(key, payload)] },
      })
  } catch (error) {
    return toAnswer(client, readFailure(error))
  }
  const signature = parseSignature(response)
  return signature === null ? toAnswer(client, malformedResponse()) : { kind: 'signed', signature }
}

function toAnswer(client: EnclaveClient, failure: Failure): SigningAnswer {
  const outcome = decideSigningOutcome(failure)
  const { status, code, reason } = failure
  if (outcome !== 'unknown') return { kind: outcome, status, code, reason }
  const error = client.toError(OPERATION, { ...failure, kind: 'unknown' })
  if (!(error instanceof EnclaveUnavailable)) throw error
  return { kind: 'unknown', error }
}

/**
 * Builds the request. The types are exactly those of the policy's rule, without `EIP712Domain`. Numbers are decimal
 * strings, which the enclave compares exactly.
 */
function buildBody({ domain, authorization, form }: AuthorizationOrder) {
  const { from, to, valueMicro, validAfterSeconds, validBeforeSeconds, nonce } = authorization
  if (valueMicro <= 0n) throw new RangeError('an authorization needs a positive amount')
  const { name, version, chainId, verifyingContract } = domain
  return {
    ...(form === 'erc1271' ? { caip2: `eip155:${chainId}`, signature_options: { type: 'erc1271' } as const } : {}),
    params: {
      typed_data: {
        domain: { name, version, chainId, verifyingContract },
        types: { TransferWithAuthorization: AUTHORIZATION_TYPES.TransferWithAuthorization.map((one) => ({ ...one })) },
        primary_type: AUTHORIZATION_PRIMARY_TYPE,
        message: {
          from,
          to,
          value: String(valueMicro),
          validAfter: String(validAfterSeconds),
          validBefore: String(validBeforeSeconds),
          nonce,
        },
      },
    },
  }
}

function parseSignature(response: unknown): Hex | null {
  if (typeof response !== 'object' || response === null) return null
  const { signature } = response as Record<string, unknown>
  if (typeof signature !== 'string' || signature.length > SIGNATURE_CHARS_MAX) return null
  return SIGNATURE_PATTERN.test(signature) ? (signature as Hex) : null
}
