import { useQuery } from '@tanstack/react-query'
import { recipientsQuery } from '../../api/recipients.ts'
import type { Recipient } from '../../api/wire-spending.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

const NONE: readonly Recipient[] = []

/** The recipient book, for labels and for picking. A grant can be made without it, so its failure stops nobody. */
export function useRecipients(): { readonly list: readonly Recipient[]; readonly isPending: boolean } {
  const { slug, mode } = useWorkspace()
  const { data, isPending } = useQuery(recipientsQuery(slug, mode))
  return { list: data ?? NONE, isPending }
}
