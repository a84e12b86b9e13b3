import { NodeFault } from './errors.ts'

/** Parses a JSON-RPC quantity or 32-byte word. @throws NodeFault if it is not hexadecimal. */
export function parseQuantity(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) throw new NodeFault('did not return a number')
  return BigInt(value)
}

export function formatQuantity(value: bigint): `0x${string}` {
  return `0x${value.toString(16)}`
}
