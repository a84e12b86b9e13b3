import { useInfiniteQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import type { AuditEntry } from '@bursar/server/src/console/contract/audit.ts'
import { auditQuery } from '../../api/queries.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { LoadMore } from '../../components/load-more.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { locateSubject } from '../../format/audit-subject.ts'
import { formatAction, formatActor, listDetails } from '../../format/audit-text.ts'
import { pathTo } from '../../navigation/paths.ts'
import { useWorkspace } from './use-workspace.ts'

export function AuditPage() {
  const { slug, name } = useWorkspace()
  const query = useInfiniteQuery(auditQuery(slug))
  const entries = query.data?.pages.flatMap((page) => page.entries)
  return (
    <>
      <PageHeading
        title="Audit log"
        breadcrumb={name}
        lead="Who did what in this workspace, in both modes, latest first. Entries are never changed or deleted."
      />
      {entries === undefined && <QueryState error={query.error} onRetry={query.refetch} lines={8} />}
      {entries?.length === 0 && (
        <EmptyState title="No entries yet">Actions by members, API keys and applications are listed here.</EmptyState>
      )}
      {entries !== undefined && entries.length > 0 && (
        <ol className="divide-y divide-line rounded-xl border border-line bg-surface">
          {entries.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
      <LoadMore query={query} />
    </>
  )
}

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const { at, actor, action, details } = entry
  const { mode, ...others } = details
  const more = listDetails(others)
  // If actors act on themselves, for example when they join, their name is shown only once.
  const hasSubject = entry.subject !== null && entry.subject !== actor.id
  return (
    <li className="grid gap-x-6 gap-y-0.5 px-4 py-3 sm:grid-cols-[minmax(0,1fr)_auto] sm:px-5">
      <p>
        <strong>
          <bdi>{formatActor(actor)}</bdi>
        </strong>
        {actor.former && <FormerMember />} {formatAction(action)}
      </p>
      <p className="flex flex-wrap items-center gap-x-3 text-sm text-muted sm:justify-end">
        {mode === 'test' && <StatusBadge tone="neutral">Test</StatusBadge>}
        {mode === 'live' && <StatusBadge tone="warning">Live</StatusBadge>}
        <TimeText at={at} isExact />
      </p>
      {(hasSubject || more.length > 0) && (
        <p className="flex flex-wrap gap-x-4 text-sm text-muted sm:col-span-2">
          {hasSubject && <Subject entry={entry} />}
          {more.length > 0 && (
            <span>
              {more.map(({ name, text, whole }, index) => (
                <Fragment key={name}>
                  {index > 0 && ' · '}
                  {name}: <bdi title={text === whole ? undefined : whole}>{text}</bdi>
                </Fragment>
              ))}
            </span>
          )}
        </p>
      )}
    </li>
  )
}

/** The subject of an entry, with a link if the subject has a page. */
function Subject({ entry }: { readonly entry: AuditEntry }) {
  const { slug } = useWorkspace()
  if (entry.subject === null) return null
  if (entry.subject_user !== null) {
    const { name, former } = entry.subject_user
    return (
      <span title={entry.subject}>
        <bdi className="font-semibold break-words">{name}</bdi>
        {former && <FormerMember />}
      </span>
    )
  }
  const location = locateSubject(entry)
  const text = <span className="font-mono break-all">{entry.subject}</span>
  return location === null ? text : <TextLink to={pathTo(slug, location.mode, ...location.parts)}>{text}</TextLink>
}

function FormerMember() {
  return <span className="text-muted"> (former member)</span>
}
