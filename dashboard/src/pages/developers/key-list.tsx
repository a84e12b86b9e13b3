import { useQueryClient } from '@tanstack/react-query'
import type { ApiKey, IssuedApiKey } from '@bursar/server/src/console/contract/keys.ts'
import { keysQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { KeyCharacters } from '../../components/key-characters.tsx'
import { List, ListItem } from '../../components/list.tsx'
import { RenameDialog } from '../../components/name-dialog.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useNow } from '../../components/use-now.ts'
import { formatRemaining } from '../../format/format-remaining.ts'
import { formatScopeList } from '../../format/scope-texts.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface KeyListProps {
  readonly keys: readonly ApiKey[]
  readonly onRotated: (issued: IssuedApiKey) => Promise<void>
}

/** The active keys, and below them, in a disclosure, the inactive keys. */
export function KeyList({ keys, onRotated }: KeyListProps) {
  const now = useNow(1_000)
  const hasEnded = ({ state, grace_until }: ApiKey) =>
    state === 'revoked' || state === 'expired' || (grace_until !== null && new Date(grace_until).getTime() <= now)
  const ended = keys.filter(hasEnded)
  const usable = keys.filter((key) => !hasEnded(key))
  return (
    <>
      {usable.length === 0 ? (
        <p className="text-muted">There are no active keys.</p>
      ) : (
        <List>
          {usable.map((key) => (
            <UsableKey key={key.id} entry={key} onRotated={onRotated} />
          ))}
        </List>
      )}
      {ended.length > 0 && (
        <Disclosure summary={ended.length === 1 ? '1 inactive key' : `${ended.length} inactive keys`}>
          <List>
            {ended.map((key) => (
              <EndedKey key={key.id} entry={key} />
            ))}
          </List>
        </Disclosure>
      )}
    </>
  )
}

function UsableKey({ entry, onRotated }: { readonly entry: ApiKey; readonly onRotated: KeyListProps['onRotated'] }) {
  const { slug, role, mode, to } = useWorkspace()
  const client = useQueryClient()
  const isRotated = entry.grace_until !== null
  const isHeld = entry.state === 'held'
  const input = { params: { slug, id: entry.id }, body: {} }
  const label = isRotated ? `the old key of ${entry.name}` : entry.name
  const actions = may(role, 'manageKeys') && (
    <>
      {!isRotated && !isHeld && (
        <RenameDialog
          name={entry.name}
          onRename={async (name) => {
            await request('PATCH /console/workspaces/:slug/keys/:id', { params: input.params, body: { name } })
            await client.invalidateQueries({ queryKey: keysQuery(slug, mode).queryKey })
          }}
        >
          The key itself stays the same, so no program has to change.
        </RenameDialog>
      )}
      {!isRotated && !isHeld && (
        <ConfirmDialog
          label="Rotate"
          labelDetail={label}
          title={`Rotate “${entry.name}”?`}
          confirmLabel="Create new key"
          isHarmless
          onConfirm={async () => onRotated(await request('POST /console/workspaces/:slug/keys/:id/rotate', input))}
        >
          You get a new key, which is shown only once. The old key works for another 24 hours, so that your programs can
          switch without interruption.
        </ConfirmDialog>
      )}
      <ConfirmDialog
        label="Revoke"
        labelDetail={label}
        title={isRotated ? `Revoke the old key of “${entry.name}”?` : `Revoke “${entry.name}”?`}
        confirmLabel="Revoke key"
        onConfirm={async () => {
          await request('POST /console/workspaces/:slug/keys/:id/revoke', input)
          await client.invalidateQueries({ queryKey: keysQuery(slug, mode).queryKey })
        }}
      >
        The key stops working immediately for every program that uses it. This can’t be undone.
        {!isRotated && !isHeld && ' To switch keys without interruption, rotate it instead.'}
      </ConfirmDialog>
    </>
  )
  return (
    <ListItem actions={actions}>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <strong>{entry.name}</strong>
        {isHeld ? (
          <StatusBadge tone="warning">On hold</StatusBadge>
        ) : isRotated ? (
          <StatusBadge tone="warning">Rotated</StatusBadge>
        ) : (
          <StatusBadge tone="success">Active</StatusBadge>
        )}
        {entry.by_former_member && <StatusBadge tone="warning">By a former member</StatusBadge>}
        <KeyCharacters mode={entry.mode} last4={entry.last4} />
      </p>
      <p className="text-sm">
        {entry.agent_id === null ? (
          'For all agents'
        ) : (
          <>
            Only as <TextLink to={to('agents', entry.agent_id)}>{entry.agent_id}</TextLink>
          </>
        )}
        : <Scopes entry={entry} />
      </p>
      {entry.grace_until !== null && !isHeld && <Grace until={entry.grace_until} />}
      {entry.by_former_member && (
        <p className="text-sm text-warning">
          {entry.created_by} is no longer a member, and may still know this key. Rotate it, or revoke it.
        </p>
      )}
      <Origin entry={entry} />
    </ListItem>
  )
}

function Scopes({ entry: { agent_id, scopes } }: { readonly entry: ApiKey }) {
  if (scopes !== null) return `can ${formatScopeList(scopes)}`
  return agent_id === null ? 'can do everything' : 'can do everything except create agents'
}

function Grace({ until }: { readonly until: string }) {
  const rest = formatRemaining(until, useNow(1_000))
  return (
    <p className="text-sm text-warning">
      The old key works for another <span className="tabular-nums">{rest ?? 'moment'}</span>, until{' '}
      <TimeText at={until} isExact />.
    </p>
  )
}

function Origin({ entry }: { readonly entry: ApiKey }) {
  const { created_by, created_at, last_used_at } = entry
  return (
    <p className="text-sm text-muted">
      {last_used_at === null ? (
        'Not used yet'
      ) : (
        <>
          Last used <TimeText at={last_used_at} isRelative />
        </>
      )}
      {' · '}Created by {created_by ?? 'the server operator'}, <TimeText at={created_at} />
    </p>
  )
}

function EndedKey({ entry }: { readonly entry: ApiKey }) {
  const endedAt = entry.revoked_at ?? entry.grace_until
  return (
    <ListItem actions={<StatusBadge tone="neutral">{entry.revoked_at === null ? 'Expired' : 'Revoked'}</StatusBadge>}>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <strong>{entry.name}</strong>
        <KeyCharacters mode={entry.mode} last4={entry.last4} />
      </p>
      <p className="text-sm">
        {entry.agent_id === null ? 'For all agents' : <>Only as {entry.agent_id}</>}: <Scopes entry={entry} />
      </p>
      {endedAt !== null && (
        <p className="text-sm text-muted">
          {entry.revoked_at === null ? 'Rotated, stopped working ' : 'Revoked '}
          <TimeText at={endedAt} isExact />
        </p>
      )}
      <Origin entry={entry} />
    </ListItem>
  )
}
