import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'

/** Returns the label of an address. Null if the address has no label, or if the labels have not been loaded yet. */
export function labelOf(recipients: readonly Recipient[] | undefined, address: string): string | null {
  const wanted = address.toLowerCase()
  return recipients?.find((recipient) => recipient.address.toLowerCase() === wanted)?.label ?? null
}
