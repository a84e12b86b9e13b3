import { useQuery } from '@tanstack/react-query'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { recipientsQuery } from '../../api/queries.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

const NONE: readonly Recipient[] = []

/** The address book. Grants can be created without it, so a failure to load it is ignored. */
export function useRecipients(): { readonly list: readonly Recipient[]; readonly isPending: boolean } {
  const { slug, mode } = useWorkspace()
  const { data, isPending } = useQuery(recipientsQuery(slug, mode))
  return { list: data ?? NONE, isPending }
}
