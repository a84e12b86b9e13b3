import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { SessionEntry } from '@bursar/server/src/console/contract/sessions.ts'
import { sessionsQuery } from '../../api/queries.ts'
import { signOut, signOutElsewhere } from '../../api/session.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { List, ListItem } from '../../components/list.tsx'
import { Section } from '../../components/section.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatDevice } from '../../format/format-device.ts'
import { useAction } from '../../components/use-action.ts'

/** The browsers in which the user is signed in. */
export function SessionsSection() {
  const { data: sessions, error, refetch } = useQuery(sessionsQuery)
  const client = useQueryClient()
  const signingOutElsewhere = useAction({
    mutationFn: signOutElsewhere,
    onSuccess: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  })
  return (
    <Section
      title="Where you are signed in"
      lead="Sessions end after 12 hours without use, and after 7 days at the latest."
    >
      {sessions === undefined ? (
        <QueryState error={error} onRetry={refetch} />
      ) : (
        <List>
          {sessions.map((entry) => (
            <SessionRow key={entry.id} entry={entry} />
          ))}
        </List>
      )}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button isBusy={signingOutElsewhere.isPending} onClick={() => signingOutElsewhere.mutate()}>
          Sign out everywhere else
        </Button>
        <p role="status" className="text-muted">
          {signingOutElsewhere.data !== undefined && formatEnded(signingOutElsewhere.data)}
        </p>
      </div>
      <ErrorNotice error={signingOutElsewhere.error} />
    </Section>
  )
}

function SessionRow({ entry }: { readonly entry: SessionEntry }) {
  const client = useQueryClient()
  const { id, device, created_at, last_seen_at, current } = entry
  const signingOut = useAction({
    mutationFn: async () => {
      await (current ? signOut('/sign-in') : request('DELETE /console/sessions/:id', { params: { id } }))
    },
    onSuccess: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  })
  const name = formatDevice(device)
  return (
    <ListItem
      actions={
        <Button
          aria-label={current ? undefined : `Sign out of ${name}`}
          isBusy={signingOut.isPending}
          onClick={() => signingOut.mutate()}
        >
          Sign out
        </Button>
      }
    >
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <strong title={device}>{name}</strong>
        {current && <StatusBadge tone="success">This browser</StatusBadge>}
      </p>
      <p className="text-sm text-muted">
        {!current && (
          <>
            Last seen <TimeText at={last_seen_at} isRelative />,{' '}
          </>
        )}
        {current ? 'Signed in ' : 'signed in '}
        <TimeText at={created_at} isExact />
      </p>
      <ErrorNotice error={signingOut.error} />
    </ListItem>
  )
}

function formatEnded(count: number): string {
  if (count === 0) return 'You were not signed in anywhere else.'
  return count === 1
    ? 'You have been signed out of one other browser.'
    : `You have been signed out of ${count} other browsers.`
}
