import { canonicalJson, type Json } from '../canonical-json.ts'
import { expect, readAddress, readInteger, readMembers, readQuantity, readText, unknown } from './shape.ts'

/**
 * An EIP-3009 authorization: anyone who has the signature can make this one transfer, between `validAfter` and
 * `validBefore`.
 */
export interface TransferAuthorization {
  readonly chainId: bigint
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: string
}

/** Together, these members bind the authorization to one token contract on one chain. */
const DOMAIN_TYPE: Json = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

/** The members in the order in which the token contract hashes them. */
export const AUTHORIZATION_TYPE: Json = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
]

const NONCE_PATTERN = /^0x[0-9a-fA-F]{64}$/

/** Decodes the body of a request to sign typed data (EIP-712). Refuses all types but `TransferWithAuthorization`. */
export function decodeTypedData(value: Json | undefined): TransferAuthorization {
  const body = readMembers(value, 'the body', {
    required: ['method', 'params'],
    optional: ['chain_type', 'caip2'],
  })
  if (body['chain_type'] !== undefined) expect(body['chain_type'], 'ethereum', 'the kind of chain')
  const params = readMembers(body['params'], 'the parameters', { required: ['typed_data'] })
  const typedData = readMembers(params['typed_data'], 'the typed data', {
    required: ['domain', 'types', 'primary_type', 'message'],
  })
  expect(typedData['primary_type'], 'TransferWithAuthorization', 'the type of the typed data')
  const types = readMembers(typedData['types'], 'the types', {
    required: ['EIP712Domain', 'TransferWithAuthorization'],
  })
  if (canonicalJson(types['TransferWithAuthorization'] ?? null) !== canonicalJson(AUTHORIZATION_TYPE)) {
    throw unknown('the type of the typed data')
  }
  const domain = decodeDomain(typedData['domain'], types['EIP712Domain'])
  if (body['caip2'] !== undefined) expect(body['caip2'], `eip155:${domain.chainId}`, 'the chain of the request')
  const message = readMembers(typedData['message'], 'the message', {
    required: ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'],
  })
  const nonce = readText(message['nonce'], 'the nonce')
  if (!NONCE_PATTERN.test(nonce)) throw unknown('the nonce')
  return {
    ...domain,
    from: readAddress(message['from'], 'the sender'),
    to: readAddress(message['to'], 'the recipient'),
    amount: readNumber(message['value'], 'the amount'),
    validAfter: readNumber(message['validAfter'], 'the start time'),
    validBefore: readNumber(message['validBefore'], 'the end time'),
    nonce,
  }
}

function decodeDomain(value: Json | undefined, type: Json | undefined): { chainId: bigint; token: string } {
  if (canonicalJson(type ?? null) !== canonicalJson(DOMAIN_TYPE)) throw unknown('the type of the domain')
  const domain = readMembers(value, 'the domain', { required: ['name', 'version', 'chainId', 'verifyingContract'] })
  readText(domain['name'], 'the name of the token')
  readText(domain['version'], 'the version of the token')
  return {
    chainId: readNumber(domain['chainId'], 'the chain'),
    token: readAddress(domain['verifyingContract'], 'the token contract'),
  }
}

/** Typed data writes numbers as JSON numbers, as decimal digits, or in hexadecimal. */
function readNumber(value: Json | undefined, what: string): bigint {
  return typeof value === 'string' && !value.startsWith('0x') ? readInteger(value, what) : readQuantity(value, what)
}
