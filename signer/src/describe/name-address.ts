import type { Claims } from '../read-message.ts'
import type { Line } from './description.ts'

/** Returns an address, and the name that the service has for it, if any. */
export function nameAddress(address: string, { addressNames }: Claims): Line {
  const claim = addressNames.get(address)
  return claim === undefined ? { text: address } : { text: address, claim }
}
