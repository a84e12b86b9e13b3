import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { request } from './request.ts'

/** Returns the label of an address. Null if the address has no label, or if the labels have not been loaded yet. */
export function labelOf(recipients: readonly Recipient[] | undefined, address: string): string | null {
  const wanted = address.toLowerCase()
  return recipients?.find((recipient) => recipient.address.toLowerCase() === wanted)?.label ?? null
}

/** Sets the label of an address. */
export async function labelRecipient(slug: string, mode: Mode, address: string, label: string): Promise<Recipient> {
  const input = { params: { slug }, body: { mode, address, label } }
  return (await request('POST /console/workspaces/:slug/recipients', input)).recipient
}

export async function removeRecipient(slug: string, mode: Mode, address: string): Promise<void> {
  const input = { params: { slug, address }, query: { mode } }
  await request('DELETE /console/workspaces/:slug/recipients/:address', input)
}
