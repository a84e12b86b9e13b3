import { useQuery } from '@tanstack/react-query'
import { may } from '@bursar/server/src/values/role.ts'
import { recipientsQuery } from '../../api/queries.ts'
import { labelOf } from '../../format/label-of.ts'
import { CodeText } from '../../components/code-text.tsx'
import { NameDialog } from '../../components/name-dialog.tsx'
import { TextButton } from '../../components/text-link.tsx'
import { useRecipientActions } from '../recipients/use-recipient-actions.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The full address of a recipient, with its name from the address book, or a button that gives it one. */
export function RecipientAddress({ address }: { readonly address: string }) {
  const { slug, mode, role } = useWorkspace()
  const { data: recipients } = useQuery(recipientsQuery(slug, mode))
  const actions = useRecipientActions()
  const label = labelOf(recipients, address)
  return (
    <>
      {label !== null && <bdi className="block">{label}</bdi>}
      <CodeText text={address} what="the recipient address" />
      {recipients !== undefined && label === null && may(role, 'labelRecipients') && (
        <p className="text-sm">
          <NameDialog
            trigger={<TextButton>Name this recipient</TextButton>}
            title="Name this recipient"
            initial=""
            onSubmit={(name) => actions.label({ address, label: name })}
          >
            Payments and grants in this workspace show the name instead of{' '}
            <span className="wrap-anywhere">{address}</span>.
          </NameDialog>
        </p>
      )}
    </>
  )
}
