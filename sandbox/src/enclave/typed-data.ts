import { canonicalJson } from './canonical-json.ts'

/** EIP-712 types by name. The members of each type are in the order of their declaration. */
export type TypedDataTypes = Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>

/** The EIP-712 types that a condition on a message was written for. */
export interface TypedDataShape {
  readonly types: TypedDataTypes
  readonly primary_type: string
}

export interface TypedData extends TypedDataShape {
  readonly domain: Readonly<Record<string, unknown>>
  readonly message: Readonly<Record<string, unknown>>
}

/** Returns the declared type of the member at a dotted path, or null if the types have no such member. */
export function findMemberType({ types, primary_type }: TypedDataShape, path: string): string | null {
  let type = primary_type
  for (const name of path.split('.')) {
    const members = Object.hasOwn(types, type) ? types[type] : undefined
    const member = members?.find((candidate) => candidate.name === name)
    if (member === undefined) return null
    type = member.type
  }
  return type
}

export function isInteger(type: string): boolean {
  return /^u?int[0-9]*$/.test(type)
}

/**
 * Reads a member of the message for a policy's condition. `shape` holds the types that the condition was written for.
 * Like the provider, this function requires that the typed data has exactly these types: the same members in the same
 * order, and `EIP712Domain` in both or in neither. Returns null if the types differ or there is no such member.
 */
export function readMessage(typedData: TypedData, shape: TypedDataShape, path: string): bigint | string | null {
  if (typedData.primary_type !== shape.primary_type) return null
  if (canonicalJson(typedData.types) !== canonicalJson(shape.types)) return null
  const type = findMemberType(shape, path)
  if (type === null) return null
  let value: unknown = typedData.message
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return parseMember(value, type)
}

export function readDomain({ domain }: TypedData, field: string): bigint | string | null {
  if (field === 'chainId' || field === 'chain_id') return parseMember(domain['chainId'], 'uint256')
  if (field === 'verifyingContract' || field === 'verifying_contract')
    return parseMember(domain['verifyingContract'], 'address')
  return null
}

/** Parses a member. Integers may be numbers, decimal strings or hexadecimal strings. */
function parseMember(value: unknown, type: string): bigint | string | null {
  if (!isInteger(type)) return typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : null
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null
  return typeof value === 'string' && /^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/.test(value) ? BigInt(value) : null
}
