import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { labelOf } from '../../format/label-of.ts'

/** The labels of the given addresses, keyed by address in lower case. Addresses without a label are left out. */
export function nameRecipients(
  addresses: readonly string[],
  recipients: readonly Recipient[],
): Readonly<Record<string, string>> {
  const entries = addresses.flatMap((address) => {
    const label = labelOf(recipients, address)
    return label === null ? [] : [[address.toLowerCase(), label] as const]
  })
  return Object.fromEntries(entries)
}
