import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import type { Role } from '@bursar/server/src/console/contract/fields.ts'
import type { Belongings as Owned, Member } from '@bursar/server/src/console/contract/members.ts'
import { belongingsQuery, invitationsQuery, membersQuery } from '../../api/queries.ts'
import { sessionQuery } from '../../api/session.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { ListItem } from '../../components/list.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { useSession } from '../../components/session-context.ts'
import { TimeText } from '../../components/time-text.tsx'
import { ROLE_TEXTS, assignableRoles } from '../../format/roles.ts'
import { Belongings } from './belongings.tsx'
import type { Departure } from './departure-notice.tsx'
import { useWorkspace } from './use-workspace.ts'
import { useAction } from '../../components/use-action.ts'

const ROLE_CHANGE = 'PATCH /console/workspaces/:slug/members/:user_id'

interface MemberRowProps {
  readonly member: Member
  /** Called after the member lost their API keys, because they were removed or became a viewer. */
  readonly onDeparted: (departure: Departure) => void
}

export function MemberRow({ member, onDeparted }: MemberRowProps) {
  const { role } = useWorkspace()
  const isMe = useSession().user.id === member.user_id
  const isMine = assignableRoles(role).includes(member.role)
  return (
    <ListItem
      actions={
        <>
          {isMine ? (
            <RoleChange member={member} isMe={isMe} onDeparted={onDeparted} />
          ) : (
            <span className="px-1">{ROLE_TEXTS[member.role].title}</span>
          )}
          {/* The same width in all rows, so that the selects line up. */}
          <div className="grid w-28 max-sm:empty:hidden">
            {(isMe || isMine) && <Removal member={member} isMe={isMe} onDeparted={onDeparted} />}
          </div>
        </>
      }
    >
      <p className="font-semibold">
        {member.name}
        {isMe && <span className="font-normal text-muted"> (you)</span>}
      </p>
      <p className="text-sm text-muted">
        Since <TimeText at={member.created_at} />
      </p>
    </ListItem>
  )
}

/**
 * A picked role must be saved with a button. Each press of an arrow key changes the select, and this must not change
 * the member's role.
 */
function RoleChange({ member, isMe, onDeparted }: MemberRowProps & { readonly isMe: boolean }) {
  const { slug, role } = useWorkspace()
  const client = useQueryClient()
  const params = { slug, user_id: member.user_id }
  // Null until the user picks a role. While it is null, the select shows the member's current role, even after another
  // user changes that role.
  const [picked, setPicked] = useState<Role | null>(null)
  const [kept, setKept] = useState<readonly string[]>([])
  const field = useRef<HTMLDivElement>(null)
  const showChange = async () => {
    await client.invalidateQueries({ queryKey: membersQuery(slug).queryKey })
    // The Save button disappears, so the focus moves to the select.
    field.current?.querySelector('select')?.focus()
    setPicked(null)
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  const change = useAction({
    mutationFn: (next: Role) => request(ROLE_CHANGE, { params, body: { role: next } }),
    onSuccess: showChange,
  })
  const makeViewer = async () => {
    const keys = await request(ROLE_CHANGE, { params, body: { role: 'viewer', keep_keys: [...kept] } })
    onDeparted({
      userId: member.user_id,
      name: member.name,
      kind: 'viewer',
      keys,
      grants: readGrants(client, slug, member),
    })
    // A viewer cannot read the invitations.
    if (!isMe) await client.invalidateQueries({ queryKey: invitationsQuery(slug).queryKey })
    await showChange()
  }
  const isChanged = picked !== null && picked !== member.role
  const choices = assignableRoles(role)
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <div ref={field} className="w-32">
          <SelectField
            label={`Role of ${member.name}`}
            isLabelHidden
            value={picked ?? member.role}
            choices={choices.map((value) => ({ value, text: ROLE_TEXTS[value].title }))}
            onChange={(value) => {
              change.reset()
              setPicked(choices.find((choice) => choice === value) ?? null)
            }}
          />
        </div>
        {isChanged && picked === 'viewer' && (
          <ConfirmDialog
            label="Save"
            labelDetail={`the role of ${member.name}`}
            title={isMe ? 'Become a viewer?' : `Make ${member.name} a viewer?`}
            confirmLabel={isMe ? 'Become a viewer' : 'Make viewer'}
            details={<Belongings member={member} isMe={isMe} kept={kept} onKeep={setKept} />}
            onOpen={() => setKept([])}
            onConfirm={makeViewer}
          >
            {isMe ? 'You' : member.name} can still see everything in this workspace, and can no longer change anything.
            API keys that {isMe ? 'you' : 'they'} created stop working for good. Applications that{' '}
            {isMe ? 'you' : 'they'} connected stop working, and would work again if the role changed back.
          </ConfirmDialog>
        )}
        {isChanged && picked !== 'viewer' && (
          <Button
            variant="primary"
            aria-label={`Save the role of ${member.name}`}
            isBusy={change.isPending}
            onClick={() => change.mutate(picked)}
          >
            Save
          </Button>
        )}
        <p role="status" className="text-sm text-muted empty:hidden">
          {change.isSuccess && !isChanged && 'Saved'}
        </p>
      </div>
      <ErrorNotice error={change.error} />
    </div>
  )
}

function Removal({ member, isMe, onDeparted }: MemberRowProps & { readonly isMe: boolean }) {
  const { slug, name } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [kept, setKept] = useState<readonly string[]>([])
  const remove = async () => {
    const query = kept.length === 0 ? {} : { keep_keys: kept.join(',') }
    const params = { slug, user_id: member.user_id }
    const keys = await request('DELETE /console/workspaces/:slug/members/:user_id', { params, query })
    onDeparted({
      userId: member.user_id,
      name: member.name,
      kind: 'removed',
      keys,
      grants: readGrants(client, slug, member),
    })
    if (isMe) await navigate('/')
    else {
      await client.invalidateQueries({ queryKey: membersQuery(slug).queryKey })
      await client.invalidateQueries({ queryKey: invitationsQuery(slug).queryKey })
    }
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  return (
    <ConfirmDialog
      label={isMe ? 'Leave' : 'Remove'}
      labelDetail={isMe ? name : member.name}
      title={isMe ? `Leave ${name}?` : `Remove ${member.name}?`}
      confirmLabel={isMe ? 'Leave workspace' : 'Remove member'}
      details={<Belongings member={member} isMe={isMe} kept={kept} onKeep={setKept} />}
      onOpen={() => setKept([])}
      onConfirm={remove}
    >
      {isMe ? 'You lose' : `${member.name} loses`} access to this workspace immediately, in every browser. Invitation
      links that {isMe ? 'you' : 'they'} created stop working.
    </ConfirmDialog>
  )
}

/** Returns the grants that the open dialog lists. They still wait for a signature after the member has left. */
function readGrants(client: QueryClient, slug: string, { user_id }: Member): Owned['grants'] {
  return client.getQueryData(belongingsQuery(slug, user_id).queryKey)?.grants ?? []
}
