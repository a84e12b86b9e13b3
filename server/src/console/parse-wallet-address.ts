import { parseAddress, type Address } from '../values/address.ts'
import { problem } from '../values/problem.ts'

/** Parses the address of a wallet in a path. Throws 404 `wallet_not_found` for a text that is not an address. */
export function parseWalletAddress(text: string): Address {
  const address = parseAddress(text)
  if (address === null) throw problem('wallet_not_found')
  return address
}
