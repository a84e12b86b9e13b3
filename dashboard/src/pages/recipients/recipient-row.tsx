import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { SpendingRow } from '@bursar/server/src/console/contract/overview.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { Button } from '../../components/button.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { NameForm } from '../../components/name-form.tsx'
import { ListItem } from '../../components/list.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { useRecipientActions } from './use-recipient-actions.ts'
import { useAction } from '../../components/use-action.ts'

interface RecipientRowProps {
  readonly recipient: Recipient
  /** The grants that list this address. */
  readonly grants: readonly Grant[]
  /** What was paid to the address this month. Null if it is not known. */
  readonly spent: Pick<SpendingRow, 'spent_usdc'> | null
  /** Null if the user may not change recipients. */
  readonly actions: Pick<ReturnType<typeof useRecipientActions>, 'label' | 'remove'> | null
}

export function RecipientRow({ recipient, grants, spent, actions }: RecipientRowProps) {
  const { to } = useWorkspace()
  const { address, label } = recipient
  const [isRenaming, setRenaming] = useState(false)
  const renaming = useAction({ mutationFn: async (name: string) => actions?.label({ address, label: name }) })
  const place = useRef<HTMLDivElement>(null)
  /** Opens or closes the form, and moves the focus to the element that appears. */
  const change = (next: boolean) => {
    flushSync(() => setRenaming(next))
    place.current?.querySelector<HTMLElement>('input, button')?.focus()
  }
  return (
    <ListItem
      actions={
        actions !== null && (
          <div ref={place} className="flex flex-wrap items-center gap-2">
            {isRenaming ? (
              <NameForm
                label={`New name for ${label}`}
                submitLabel="Save"
                charsMax={NAME_CHARS_MAX}
                initial={label}
                onCancel={() => change(false)}
                onSubmit={async (name) => {
                  change(false)
                  await renaming.mutateAsync(name)
                }}
              />
            ) : (
              <>
                <Button aria-label={`Rename ${label}`} onClick={() => change(true)}>
                  Rename
                </Button>
                <ConfirmDialog
                  label="Remove"
                  labelDetail={label}
                  title={`Remove “${label}”?`}
                  confirmLabel="Remove recipient"
                  onConfirm={() => actions.remove(address)}
                >
                  Grants and payments will show the address instead of the name. Grants still allow the same addresses.
                </ConfirmDialog>
              </>
            )}
          </div>
        )
      }
    >
      <p className="flex flex-wrap items-baseline justify-between gap-x-4">
        <bdi className="font-semibold">{label}</bdi>
        {spent !== null && (
          <span className="text-sm text-muted">
            <AmountText isRounded usdc={spent.spent_usdc} /> this month
          </span>
        )}
      </p>
      <CodeText text={address} what={`the address of ${label}`} />
      <p className="flex flex-wrap gap-x-4 text-sm">
        <TextLink to={`${to('payments')}?${new URLSearchParams({ recipient: address })}`}>
          Payments<span className="sr-only"> to {label}</span>
        </TextLink>
        {grants.map((grant) => (
          <TextLink key={grant.id} to={to('grants', grant.id)}>
            Grant for <bdi>{grant.agent_id}</bdi>
          </TextLink>
        ))}
      </p>
      <ErrorNotice error={renaming.error} />
    </ListItem>
  )
}
