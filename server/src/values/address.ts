import { getAddress } from 'viem/utils'

/** An EVM address with its EIP-55 checksum. Only `parseAddress` creates one. */
export type Address = `0x${string}` & { readonly __kind: 'address' }

const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/

/**
 * Parses a hex address that is all lower case, all upper case, or has a correct EIP-55 checksum (D20). Returns null for
 * anything else.
 */
export function parseAddress(text: string): Address | null {
  if (!ADDRESS_PATTERN.test(text)) return null
  const digits = text.slice(2)
  const checksummed = getAddress(`0x${digits.toLowerCase()}`)
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (!oneCase && checksummed !== text) return null
  return checksummed as Address
}

/** Completes the message about an address that `parseAddress` rejects. */
export const ADDRESS_RULE =
  'must be an EVM address: 0x and 40 hexadecimal digits, and a correct checksum if its letters differ in case'

export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000' as Address
