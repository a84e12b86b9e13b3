import { NodeFault } from './errors.ts'

/** The largest number of a block, log, transaction or second that we accept. A `bigint` of PostgreSQL can hold it. */
const NUMBER_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/** Parses a JSON-RPC quantity. @throws NodeFault if it is not hexadecimal, or above `NUMBER_MAX`. */
export function parseQuantity(value: unknown): bigint {
  const quantity = parseWord(value)
  if (quantity > NUMBER_MAX) throw new NodeFault('returned too large a number')
  return quantity
}

/** Parses a number of up to 32 bytes, such as an amount in wei. @throws NodeFault if it is not hexadecimal. */
export function parseWord(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) throw new NodeFault('did not return a number')
  return BigInt(value)
}

export function formatQuantity(value: bigint): `0x${string}` {
  return `0x${value.toString(16)}`
}
