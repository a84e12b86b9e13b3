import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { Recipient } from './wire-spending.ts'
import { workspacePath } from './workspaces.ts'

/** The address book of a workspace in one mode, by label. */
export function recipientsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'recipients', mode],
    queryFn: async ({ signal }) => {
      const path = `${workspacePath(slug, 'recipients')}?mode=${mode}`
      return (await request<{ recipients: readonly Recipient[] }>('GET', path, { signal })).recipients
    },
  })
}

/** What an address is called in the book; null when it has no label, or the book is not read yet. */
export function labelOf(recipients: readonly Recipient[] | undefined, address: string): string | null {
  const wanted = address.toLowerCase()
  return recipients?.find((recipient) => recipient.address.toLowerCase() === wanted)?.label ?? null
}

/** Gives an address a label, or another one. */
export async function labelRecipient(slug: string, mode: Mode, address: string, label: string): Promise<Recipient> {
  const body = { mode, address, label }
  return (await request<{ recipient: Recipient }>('POST', workspacePath(slug, 'recipients'), { body })).recipient
}

export async function removeRecipient(slug: string, mode: Mode, address: string): Promise<void> {
  await request('DELETE', `${workspacePath(slug, 'recipients', address)}?mode=${mode}`)
}
