import { useQuery } from '@tanstack/react-query'
import { recipientsQuery } from '../../api/queries.ts'
import { labelOf } from '../../format/label-of.ts'
import { CodeText } from '../../components/code-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The full address of a recipient, with its name from the address book. */
export function RecipientAddress({ address }: { readonly address: string }) {
  const { slug, mode } = useWorkspace()
  const { data: recipients } = useQuery(recipientsQuery(slug, mode))
  const label = labelOf(recipients, address)
  return (
    <>
      {label !== null && <bdi className="block">{label}</bdi>}
      <CodeText text={address} what="the recipient address" />
    </>
  )
}
