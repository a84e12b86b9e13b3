import type { Json } from '../canonical-json.ts'
import { expect, readAddress, readMembers, readQuantity, readText, unknown } from './shape.ts'

/** One transfer of a token from the wallet. */
export interface Transfer {
  readonly chainId: bigint
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  /** The name that the service has given to the transfer. */
  readonly reference: string | null
}

/** The selector of `transfer(address,uint256)`, and two words of 32 bytes. */
const TRANSFER_PATTERN = /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/

/** Decodes the body of a request to send a transaction. Refuses everything but a transfer of an ERC-20 token. */
export function decodeTransfer(value: Json | undefined): Transfer {
  const body = readMembers(value, 'the body', {
    required: ['method', 'caip2', 'params'],
    optional: ['chain_type', 'sponsor', 'reference_id'],
  })
  if (body['chain_type'] !== undefined) expect(body['chain_type'], 'ethereum', 'the kind of chain')
  if (body['sponsor'] !== undefined && typeof body['sponsor'] !== 'boolean') throw unknown('the member "sponsor"')
  const reference = body['reference_id']
  const params = readMembers(body['params'], 'the parameters', { required: ['transaction'] })
  const transaction = readMembers(params['transaction'], 'the transaction', {
    required: ['from', 'to', 'data', 'value', 'chain_id'],
  })
  const chainId = readQuantity(transaction['chain_id'], 'the chain of the transaction')
  expect(body['caip2'], `eip155:${chainId}`, 'the chain of the request')
  if (readQuantity(transaction['value'], 'the native value') !== 0n) throw unknown('a native value')
  const call = TRANSFER_PATTERN.exec(readText(transaction['data'], 'the call'))
  if (call?.[1] === undefined || call[2] === undefined) throw unknown('the call')
  return {
    chainId,
    token: readAddress(transaction['to'], 'the token contract'),
    from: readAddress(transaction['from'], 'the sender'),
    to: `0x${call[1]}`,
    amount: BigInt(`0x${call[2]}`),
    reference: reference === undefined ? null : readText(reference, 'the reference id'),
  }
}
