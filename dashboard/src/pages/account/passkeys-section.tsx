import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Passkey } from '@bursar/server/src/console/contract/passkeys.ts'
import { passkeysQuery } from '../../api/queries.ts'
import { addPasskey } from '../../api/passkeys.ts'
import { request } from '../../api/request.ts'
import { sessionQuery } from '../../api/session.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { NameForm } from '../../components/name-form.tsx'
import { List, ListItem } from '../../components/list.tsx'
import { RenameDialog } from '../../components/name-dialog.tsx'
import { Section } from '../../components/section.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { PASSKEY_NAME_HINT } from '../../format/name-hints.ts'

export function PasskeysSection() {
  const { data: passkeys, error, refetch } = useQuery(passkeysQuery)
  const client = useQueryClient()
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: passkeysQuery.queryKey })
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  return (
    <Section
      title="Passkeys"
      lead="You can sign in with any of these passkeys. Add passkeys on at least two devices, in case you lose one device."
    >
      {passkeys === undefined && <QueryState error={error} onRetry={refetch} />}
      {passkeys !== undefined && passkeys.length > 0 && (
        <List>
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} isOnly={passkeys.length === 1} onChange={refresh} />
          ))}
        </List>
      )}
      <div className="max-w-md">
        <NameForm
          label="New passkey name"
          hint={PASSKEY_NAME_HINT}
          submitLabel="Add a passkey"
          charsMax={NAME_CHARS_MAX}
          onSubmit={async (name) => {
            await addPasskey(name)
            await refresh()
          }}
        />
      </div>
    </Section>
  )
}

interface PasskeyRowProps {
  readonly passkey: Passkey
  /** Whether the user has no other passkey. The server does not remove the only one. */
  readonly isOnly: boolean
  readonly onChange: () => Promise<void>
}

function PasskeyRow({ passkey, isOnly, onChange }: PasskeyRowProps) {
  const { id, name, created_at, last_used_at } = passkey
  const params = { id }
  return (
    <ListItem
      actions={
        <>
          <RenameDialog
            name={name}
            onRename={async (text) => {
              await request('PATCH /console/passkeys/:id', { params, body: { name: text } })
              await onChange()
            }}
          >
            Only you see this name, and only here. Your device may show another one.
          </RenameDialog>
          {!isOnly && (
            <ConfirmDialog
              label="Remove"
              labelDetail={name}
              title={`Remove “${name}”?`}
              confirmLabel="Remove passkey"
              onConfirm={async () => {
                await request('DELETE /console/passkeys/:id', { params })
                await onChange()
              }}
            >
              You can no longer sign in with this passkey. Your device may still offer it until you delete it there as
              well.
            </ConfirmDialog>
          )}
        </>
      }
    >
      <p className="font-semibold">
        <bdi>{name}</bdi>
      </p>
      {isOnly && <p className="text-sm text-muted">This is your only passkey, so it can’t be removed.</p>}
      <p className="text-sm text-muted">
        Added <TimeText at={created_at} />
        {last_used_at === null ? ', not used yet' : ', last used '}
        {last_used_at !== null && <TimeText at={last_used_at} isRelative />}
      </p>
    </ListItem>
  )
}
