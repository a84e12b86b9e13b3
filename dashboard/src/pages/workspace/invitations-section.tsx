import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { Role } from '@bursar/server/src/console/contract/fields.ts'
import type { IssuedInvitation } from '@bursar/server/src/console/contract/invitations.ts'
import { invitationsQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { EmptyList, List, ListItem } from '../../components/list.tsx'
import { Section } from '../../components/section.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { FIELD_CLASS } from '../../components/text-field.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { ROLE_TEXTS, assignableRoles } from '../../format/roles.ts'
import { useWorkspace } from './use-workspace.ts'
import { useAction } from '../../components/use-action.ts'

export function InvitationsSection() {
  const { slug } = useWorkspace()
  const { data: invitations, error, refetch } = useQuery(invitationsQuery(slug))
  const client = useQueryClient()
  const refresh = () => client.invalidateQueries({ queryKey: invitationsQuery(slug).queryKey })
  return (
    <>
      <Section title="Invite a member" lead="An invitation link works for one person and expires after seven days.">
        <InvitationForm onCreated={refresh} />
      </Section>
      <Section title="Open invitations">
        {invitations === undefined && <QueryState error={error} onRetry={refetch} lines={2} />}
        {invitations?.length === 0 && <EmptyList>There are no open invitations.</EmptyList>}
        {invitations !== undefined && invitations.length > 0 && (
          <List>
            {invitations.map(({ id, role, created_at, expires_at }) => (
              <ListItem
                key={id}
                actions={
                  <ConfirmDialog
                    label="Revoke"
                    labelDetail={`the invitation as ${ROLE_TEXTS[role].title}`}
                    title="Revoke this invitation?"
                    confirmLabel="Revoke invitation"
                    onConfirm={async () => {
                      await request('DELETE /console/workspaces/:slug/invitations/:id', { params: { slug, id } })
                      await refresh()
                    }}
                  >
                    Its link stops working immediately.
                  </ConfirmDialog>
                }
              >
                <p className="font-semibold">As {ROLE_TEXTS[role].title.toLowerCase()}</p>
                <p className="text-sm text-muted">
                  Created <TimeText at={created_at} />, expires <TimeText at={expires_at} isExact />
                </p>
              </ListItem>
            ))}
          </List>
        )}
      </Section>
    </>
  )
}

function InvitationForm({ onCreated }: { readonly onCreated: () => Promise<void> }) {
  const { slug, role } = useWorkspace()
  const choices = assignableRoles(role)
  const [picked, setPicked] = useState<Role>('viewer')
  const creation = useAction({
    mutationFn: async (chosen: Role) => {
      const input = { params: { slug }, body: { role: chosen } }
      return (await request('POST /console/workspaces/:slug/invitations', input)).invitation
    },
    onSuccess: onCreated,
  })
  // Once a link is shown, the button is less prominent, because another link would replace the shown one.
  const isCreated = creation.data?.role === picked
  return (
    <div className="grid gap-4">
      <div className="flex max-w-md flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1 basis-40">
          <SelectField
            label="Role"
            value={picked}
            choices={choices.map((value) => ({ value, text: ROLE_TEXTS[value].title }))}
            onChange={(value) => setPicked(choices.find((choice) => choice === value) ?? 'viewer')}
          />
        </div>
        <Button
          variant={isCreated ? 'plain' : 'primary'}
          isBusy={creation.isPending}
          onClick={() => creation.mutate(picked)}
        >
          {isCreated ? 'Create another link' : 'Create link'}
        </Button>
      </div>
      <p className="text-sm text-muted">
        {ROLE_TEXTS[picked].title}: {ROLE_TEXTS[picked].meaning}.
      </p>
      <ErrorNotice error={creation.error} />
      <div role="status">{creation.data !== undefined && <IssuedLink invitation={creation.data} />}</div>
    </div>
  )
}

function IssuedLink({ invitation }: { readonly invitation: IssuedInvitation }) {
  const id = useId()
  return (
    <div className="grid gap-2 rounded-xl border border-line bg-sunken p-4">
      <label htmlFor={id} className="font-semibold">
        Link for a new {ROLE_TEXTS[invitation.role].title.toLowerCase()}
      </label>
      <div className="flex flex-wrap gap-3">
        <input
          id={id}
          readOnly
          value={invitation.url}
          className={`${FIELD_CLASS} flex-1 basis-56 font-mono text-sm`}
          onFocus={(event) => event.target.select()}
        />
        <CopyButton text={invitation.url} what="the link" />
      </div>
      <p className="text-sm text-muted">
        This link is shown only once. Anyone who has it can use it, but only one person can join with it. Send it only
        to the person you invite.
      </p>
    </div>
  )
}
