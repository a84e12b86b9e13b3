import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { recipientsQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

type Named = Pick<Recipient, 'address' | 'label'>

interface RecipientActions {
  /** Adds or renames a recipient. Updates the list optimistically, and reverts it if the server rejects the change. */
  readonly label: (recipient: Named) => Promise<unknown>
  readonly remove: (address: string) => Promise<void>
}

/** The actions on the address book. */
export function useRecipientActions(): RecipientActions {
  const { slug, mode } = useWorkspace()
  const client = useQueryClient()
  const { queryKey } = recipientsQuery(slug, mode)
  const naming = useMutation({
    mutationFn: async ({ address, label }: Named) => {
      const input = { params: { slug }, body: { mode, address, label } }
      return (await request('POST /console/workspaces/:slug/recipients', input)).recipient
    },
    onMutate: async (recipient) => {
      await client.cancelQueries({ queryKey })
      const before = client.getQueryData(queryKey)
      if (before !== undefined) client.setQueryData(queryKey, withLabel(before, recipient))
      return { before }
    },
    onError: (_error, _recipient, kept) => {
      if (kept?.before !== undefined) client.setQueryData(queryKey, kept.before)
    },
    onSettled: () => client.invalidateQueries({ queryKey }),
  })
  return {
    label: naming.mutateAsync,
    remove: async (address) => {
      const input = { params: { slug, address }, query: { mode } }
      await request('DELETE /console/workspaces/:slug/recipients/:address', input)
      await client.invalidateQueries({ queryKey })
    },
  }
}

function withLabel(before: readonly Recipient[], { address, label }: Named): readonly Recipient[] {
  const isSame = (recipient: Recipient) => recipient.address.toLowerCase() === address.toLowerCase()
  const old = before.find(isSame)
  const recipient = { address: old?.address ?? address, label, created_at: old?.created_at ?? new Date().toISOString() }
  const others = before.filter((other) => !isSame(other))
  return [...others, recipient].sort((left, right) => left.label.localeCompare(right.label, 'en'))
}
