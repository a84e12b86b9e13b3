import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { ApiKey } from '@bursar/server/src/console/contract/keys.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { heldKeysQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import type { Output } from '@bursar/server/src/console/contract/all-routes.ts'
import { liveKey } from '../../api/query-key.ts'
import { sessionQuery } from '../../api/session.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { KeyCharacters } from '../../components/key-characters.tsx'
import { Notice } from '../../components/notice.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { Section } from '../../components/section.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatScopeList } from '../../format/scope-texts.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/**
 * The keys that wait for an owner to confirm them after a restore of the service. An owner chooses the keys that work
 * again, and the others are revoked. Everybody else sees the list.
 */
export function HeldKeys() {
  const { slug, mode, role, has_held_keys: isWaiting } = useWorkspace()
  const { data: keys, error, refetch } = useQuery({ ...heldKeysQuery(slug), enabled: isWaiting })
  const client = useQueryClient()
  const [decision, setDecision] = useState<Output<'POST /console/workspaces/:slug/held-keys'> | null>(null)
  const decide = async (confirm: readonly string[]) => {
    const input = { params: { slug }, body: { confirm: [...confirm] } }
    setDecision(await request('POST /console/workspaces/:slug/held-keys', input))
    await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
    await client.invalidateQueries({ queryKey: heldKeysQuery(slug).queryKey })
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  return (
    <>
      <div role="status" className="empty:absolute">
        {decision !== null && (
          <Notice>
            <p>
              {countKeys(decision.confirmed.length)} {decision.confirmed.length === 1 ? 'works' : 'work'} again.{' '}
              {countKeys(decision.revoked.length)} {decision.revoked.length === 1 ? 'was' : 'were'} revoked.
            </p>
          </Notice>
        )}
      </div>
      {isWaiting && keys === undefined && <QueryState error={error} onRetry={refetch} />}
      {isWaiting && keys !== undefined && keys.length > 0 && (
        <HeldKeysSection
          key={keys.map(({ id }) => id).join()}
          keys={keys}
          isOwner={may(role, 'confirmHeldKeys')}
          onDecide={decide}
        />
      )}
    </>
  )
}

interface HeldKeysSectionProps {
  readonly keys: readonly ApiKey[]
  readonly isOwner: boolean
  readonly onDecide: (confirm: readonly string[]) => Promise<void>
}

function HeldKeysSection({ keys, isOwner, onDecide }: HeldKeysSectionProps) {
  const { to } = useWorkspace()
  const [chosen, setChosen] = useState<readonly string[]>([])
  const confirmed = keys.filter(({ id }) => chosen.includes(id))
  const revoked = keys.filter(({ id }) => !chosen.includes(id))
  return (
    <Section
      title="Keys on hold"
      lead={
        isOwner
          ? 'Select the keys that work again. The others are revoked for good. The list contains the keys of both modes.'
          : 'An owner of this workspace has to confirm these keys. Until then, they don’t work. The list contains the keys of both modes.'
      }
    >
      <Notice>
        <ul className="grid list-disc gap-1 pl-5">
          <li>
            The backup brought back keys that were revoked since. Select a key only if you know the program that uses
            it.
          </li>
          <li>Keys that were created or rotated since the backup no longer exist. Create them again.</li>
          <li>
            The members are as they were at the time of the backup too. Check the{' '}
            <TextLink to={to('members')}>members</TextLink>, and your own{' '}
            <TextLink to="/account">passkeys and recovery codes</TextLink>.
          </li>
        </ul>
      </Notice>
      <ul className="divide-y divide-line rounded-xl border border-line bg-surface">
        {keys.map((key) => (
          <HeldKey
            key={key.id}
            entry={key}
            isChosen={chosen.includes(key.id)}
            onChoose={
              isOwner
                ? (isChosen) => setChosen(isChosen ? [...chosen, key.id] : chosen.filter((id) => id !== key.id))
                : null
            }
          />
        ))}
      </ul>
      {isOwner && (
        <div>
          <ConfirmDialog
            label={describe(confirmed.length, revoked.length)}
            title={`${describe(confirmed.length, revoked.length)}?`}
            confirmLabel={describe(confirmed.length, revoked.length)}
            isHarmless={revoked.length === 0}
            details={
              <div className="grid gap-3">
                <KeyNames title="Work again" keys={confirmed} />
                <KeyNames title="Are revoked" keys={revoked} />
              </div>
            }
            onConfirm={() => onDecide(chosen)}
          >
            This takes effect immediately. A revoked key can’t be brought back. You will be asked for your passkey.
          </ConfirmDialog>
        </div>
      )}
    </Section>
  )
}

interface HeldKeyProps {
  readonly entry: ApiKey
  readonly isChosen: boolean
  /** Null if the reader may not decide. */
  readonly onChoose: ((isChosen: boolean) => void) | null
}

function HeldKey({ entry, isChosen, onChoose }: HeldKeyProps) {
  const id = useId()
  const { name, mode, last4, agent_id: agentId, scopes, created_by: creator, created_at, last_used_at } = entry
  return (
    <li className="relative flex items-start justify-between gap-4 px-4 py-3 sm:px-5">
      <div className="grid min-w-0 gap-0.5">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <strong className="break-words">{name}</strong>
          <StatusBadge tone={mode === 'live' ? 'warning' : 'neutral'}>{mode === 'live' ? 'Live' : 'Test'}</StatusBadge>
          <KeyCharacters mode={mode} last4={last4} />
        </p>
        <div id={id} className="grid gap-0.5 text-sm text-muted">
          <p>
            {agentId === null ? 'For all agents' : `Only as ${agentId}`}
            {scopes === null ? ', with all scopes' : `, can ${formatScopeList(scopes)}`}
          </p>
          <p>
            {last_used_at === null ? (
              'Not used before the backup'
            ) : (
              <>
                Last used <TimeText at={last_used_at} isExact />
              </>
            )}
            {' · '}Created by {creator ?? 'the server operator'}, <TimeText at={created_at} />
          </p>
          {entry.by_former_member && (
            <p className="text-warning">{creator} is a former member, and may still know this key.</p>
          )}
        </div>
      </div>
      {onChoose !== null && (
        <label className="flex shrink-0 items-center gap-2 font-semibold after:absolute after:inset-0">
          <input
            type="checkbox"
            className="relative z-1 size-4.5 accent-accent"
            aria-label={`Works again: ${name}`}
            aria-describedby={id}
            checked={isChosen}
            onChange={(event) => onChoose(event.currentTarget.checked)}
          />
          Works again
        </label>
      )}
    </li>
  )
}

function KeyNames({ title, keys }: { readonly title: string; readonly keys: readonly ApiKey[] }) {
  if (keys.length === 0) return null
  return (
    <div className="grid gap-1">
      <h3 className="font-semibold">{title}</h3>
      <ul className="grid gap-1">
        {keys.map(({ id, name, mode, last4 }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-2">
            <span className="break-words">{name}</span>
            <KeyCharacters mode={mode} last4={last4} />
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Names the decision, such as "Confirm 2 keys and revoke 1 key". */
function describe(confirmed: number, revoked: number): string {
  if (revoked === 0) return `Confirm ${countKeys(confirmed)}`
  if (confirmed === 0) return `Revoke ${countKeys(revoked)}`
  return `Confirm ${countKeys(confirmed)} and revoke ${countKeys(revoked)}`
}

function countKeys(count: number): string {
  return count === 1 ? '1 key' : `${count} keys`
}
