import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { formatShortAddress } from './address.ts'

/** A wallet in a list of choices: its name, its address, and whether its money would be lost with a single passkey. */
export function formatWalletChoice({
  name,
  address,
  is_at_risk,
}: Pick<Wallet, 'name' | 'address' | 'is_at_risk'>): string {
  return `${name} (${formatShortAddress(address)})${is_at_risk ? ', at risk' : ''}`
}
