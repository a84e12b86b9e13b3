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
            <PasskeyRow
              key={passkey.id}
              passkey={passkey}
              onRemove={async () => {
                await request('DELETE /console/passkeys/:id', { params: { id: passkey.id } })
                await refresh()
              }}
            />
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

function PasskeyRow({ passkey, onRemove }: { readonly passkey: Passkey; readonly onRemove: () => Promise<void> }) {
  const { name, created_at, last_used_at } = passkey
  return (
    <ListItem
      actions={
        <ConfirmDialog
          label="Remove"
          labelDetail={name}
          title={`Remove “${name}”?`}
          confirmLabel="Remove passkey"
          onConfirm={onRemove}
        >
          You can no longer sign in with this passkey. Your device may still offer it until you delete it there as well.
        </ConfirmDialog>
      }
    >
      <p className="font-semibold">{name}</p>
      <p className="text-sm text-muted">
        Added <TimeText at={created_at} />
        {last_used_at === null ? ', not used yet' : ', last used '}
        {last_used_at !== null && <TimeText at={last_used_at} isRelative />}
      </p>
    </ListItem>
  )
}
