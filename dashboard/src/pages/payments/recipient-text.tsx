import { useQuery } from '@tanstack/react-query'
import { recipientsQuery } from '../../api/queries.ts'
import { labelOf } from '../../format/label-of.ts'
import { CodeText } from '../../components/code-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The name of a recipient in the address book, or the shortened address. */
export function RecipientText({ address }: { readonly address: string }) {
  const { slug, mode } = useWorkspace()
  const { data: recipients } = useQuery(recipientsQuery(slug, mode))
  const label = labelOf(recipients, address)
  if (label === null) return <CodeText text={address} isShort />
  return <bdi title={`${label} (${address})`}>{label}</bdi>
}
