import { keccak256 } from '../keccak.ts'

/** Returns an address with its checksum (EIP-55), as the dashboard and other tools show it. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak256(new TextEncoder().encode(digits))
  const isUpper = (index: number): boolean => {
    const byte = hash[Math.floor(index / 2)] ?? 0
    return ((index % 2 === 0 ? byte >> 4 : byte) & 0x8) !== 0
  }
  return `0x${Array.from(digits, (digit, index) => (isUpper(index) ? digit.toUpperCase() : digit)).join('')}`
}
