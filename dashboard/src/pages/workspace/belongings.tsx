import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { Belongings as Owned, Member } from '@bursar/server/src/console/contract/members.ts'
import { belongingsQuery } from '../../api/queries.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { KeyCharacters } from '../../components/key-characters.tsx'
import { Notice } from '../../components/notice.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { ROLE_TEXTS } from '../../format/roles.ts'
import { LeftToOthers } from './left-to-others.tsx'
import { useWorkspace } from './use-workspace.ts'

interface BelongingsProps {
  readonly member: Member
  /** Whether the member makes the change. Nobody can keep their own keys. */
  readonly isMe: boolean
  /** The ids of the keys that keep working. */
  readonly kept: readonly string[]
  readonly onKeep: (ids: readonly string[]) => void
}

/** Lists what ends when the member leaves or becomes a viewer, and what they leave to others. */
export function Belongings({ member, isMe, kept, onKeep }: BelongingsProps) {
  const { slug } = useWorkspace()
  const { data, error, refetch } = useQuery(belongingsQuery(slug, member.user_id))
  if (error !== null) {
    return (
      <>
        <ErrorNotice error={error} onRetry={() => void refetch()} />
        <p className="text-muted">
          What ends and what stays could not be listed. If you go on, all API keys that {isMe ? 'you' : member.name}{' '}
          created stop working, and all applications that {isMe ? 'you' : 'they'} connected.
        </p>
      </>
    )
  }
  if (data === undefined) return <Skeleton lines={3} />
  return (
    <>
      <StrandedNotice wallets={data.wallets} member={member} isMe={isMe} />
      <Keys keys={data.keys} member={member} isMe={isMe} kept={kept} onKeep={onKeep} />
      <Connections connections={data.connections} />
      <Invitations invitations={data.invitations} />
      <LeftToOthers wallets={data.wallets} grants={data.grants} member={member} isMe={isMe} />
    </>
  )
}

/** Warns if nobody else can sign for a wallet. Its money could then not be moved. */
function StrandedNotice({ wallets, member, isMe }: Pick<BelongingsProps, 'member' | 'isMe'> & Pick<Owned, 'wallets'>) {
  const stranded = wallets.filter(({ other_signers }) => other_signers.length === 0)
  if (stranded.length === 0) return null
  const names = stranded.map(({ name, mode }) => `“${name}” (${mode})`)
  return (
    <Notice tone="danger">
      <p>
        <strong>
          Nobody {isMe ? 'but you' : 'else'} can sign for {new Intl.ListFormat('en').format(names)}.
        </strong>{' '}
        After this, nobody can sign grants for {stranded.length === 1 ? 'this wallet' : 'these wallets'}, revoke them or
        withdraw the money, until {isMe ? 'you are' : `${member.name} is`} an owner or admin again. First add a passkey
        of another owner or admin, on the wallet’s page.
      </p>
    </Notice>
  )
}

function Keys({ keys, member, isMe, kept, onKeep }: BelongingsProps & Pick<Owned, 'keys'>) {
  const id = useId()
  if (keys.length === 0) {
    return <p className="text-muted">{isMe ? 'You have' : `${member.name} has`} created no API key that still works.</p>
  }
  return (
    <div role="group" aria-labelledby={id} className="grid gap-2">
      <h3 id={id} className="font-semibold">
        {isMe ? 'Your API keys stop working' : `API keys that ${member.name} created`}
      </h3>
      <p className="text-sm text-muted">
        {isMe
          ? 'To keep a program going, first ask another admin or owner to rotate its key.'
          : 'They stop working immediately, for every program that uses them, except those that you keep.'}
      </p>
      <ul className="divide-y divide-line rounded-xl border border-line">
        {keys.map((key) => (
          <li key={key.id} className="relative flex items-start justify-between gap-3 px-4 py-2.5">
            <div className="grid min-w-0 gap-0.5">
              <p className="flex flex-wrap items-center gap-x-2">
                <strong className="break-words">{key.name}</strong>
                <KeyCharacters mode={key.mode} last4={key.last4} />
              </p>
              <p id={`${id}-${key.id}`} className="text-sm text-muted">
                {key.mode === 'live' ? 'Live' : 'Test'}
                {key.agent_id === null ? ', for all agents' : `, only as ${key.agent_id}`}
                {key.last_used_at === null ? (
                  ', not used yet'
                ) : (
                  <>
                    , last used <TimeText at={key.last_used_at} isRelative />
                  </>
                )}
              </p>
            </div>
            {!isMe && (
              <label className="flex shrink-0 items-center gap-2 font-semibold after:absolute after:inset-0">
                <input
                  type="checkbox"
                  className="relative z-1 size-4.5 accent-accent"
                  aria-describedby={`${id}-${key.id}`}
                  checked={kept.includes(key.id)}
                  onChange={(event) => {
                    const isKept = event.currentTarget.checked
                    const chosen = keys.filter((other) => (other === key ? isKept : kept.includes(other.id)))
                    onKeep(chosen.map((each) => each.id))
                  }}
                />
                Keep<span className="sr-only"> {key.name}</span>
              </label>
            )}
          </li>
        ))}
      </ul>
      {kept.length > 0 && (
        <Notice tone="warning">
          <p>
            {member.name} may still know the secret of a key that you keep, and could use it. Rotate the key as soon as
            its program can switch.
          </p>
        </Notice>
      )}
    </div>
  )
}

function Connections({ connections }: Pick<Owned, 'connections'>) {
  const id = useId()
  if (connections.length === 0) return null
  return (
    <div role="group" aria-labelledby={id} className="grid gap-2">
      <h3 id={id} className="font-semibold">
        Applications that are disconnected
      </h3>
      <ul className="divide-y divide-line rounded-xl border border-line">
        {connections.map((connection) => (
          <li key={connection.id} className="grid gap-0.5 px-4 py-2.5">
            <p className="font-semibold break-words">{connection.client_name}</p>
            <p className="text-sm text-muted">
              {connection.mode === 'live' ? 'Live' : 'Test'}, as {connection.agent_id}
            </p>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Invitations({ invitations }: Pick<Owned, 'invitations'>) {
  const id = useId()
  if (invitations.length === 0) return null
  return (
    <div role="group" aria-labelledby={id} className="grid gap-2">
      <h3 id={id} className="font-semibold">
        Invitation links that stop working
      </h3>
      <ul className="divide-y divide-line rounded-xl border border-line">
        {invitations.map((invitation) => (
          <li key={invitation.id} className="grid gap-0.5 px-4 py-2.5">
            <p className="font-semibold">As {ROLE_TEXTS[invitation.role].title.toLowerCase()}</p>
            <p className="text-sm text-muted">
              Would expire <TimeText at={invitation.expires_at} isExact />
            </p>
          </li>
        ))}
      </ul>
    </div>
  )
}
