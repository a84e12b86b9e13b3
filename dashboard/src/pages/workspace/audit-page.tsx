import { useInfiniteQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { Link, useSearchParams } from 'react-router'
import type { AuditEntry } from '@bursar/server/src/console/contract/audit.ts'
import { pathOf } from '../../api/build-path.ts'
import { download } from '../../api/download.ts'
import { auditQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { LoadMoreButton } from '../../components/load-more-button.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useAction } from '../../components/use-action.ts'
import { locateSubject, showsSubject } from '../../format/audit-subject.ts'
import { TIME_ZONE } from '../../format/date.ts'
import { formatAction, formatActor, listDetails } from '../../format/audit-text.ts'
import { pathTo } from '../../navigation/paths.ts'
import { AuditFilters } from './audit-filters.tsx'
import { parseAuditSearch } from './audit-search.ts'
import { useWorkspace } from './use-workspace.ts'

export function AuditPage() {
  const { slug, name } = useWorkspace()
  const [params] = useSearchParams()
  const search = parseAuditSearch(params)
  const query = useInfiniteQuery(auditQuery(slug, search.filter))
  const { data, isPlaceholderData } = query
  const entries = data?.pages.flatMap((page) => page.entries)
  const last = data?.pages.at(-1)
  const chosen = entries?.find(({ actor }) => actor.id !== null && actor.id === search.filter.actor)
  const input = { params: { slug }, query: { ...search.filter, time_zone: TIME_ZONE } }
  const exporting = useAction({
    mutationFn: () => download(pathOf('GET /console/workspaces/:slug/audit/export', input)),
  })
  return (
    <>
      <PageHeading
        title="Audit log"
        breadcrumb={name}
        lead="Who did what in this workspace, in both modes, latest first. Entries are never changed or deleted."
        actions={
          <Button isBusy={exporting.isPending} onClick={() => exporting.mutate()}>
            Export CSV
          </Button>
        }
      />
      <ErrorNotice error={exporting.error} />
      <AuditFilters search={search} actorName={chosen && formatActor(chosen.actor)} />
      {entries === undefined && <QueryState error={query.error} onRetry={query.refetch} lines={8} />}
      {entries?.length === 0 && last?.next === null && <NoEntries isFiltered={search.isFiltered} />}
      {entries !== undefined && entries.length > 0 && (
        <ol
          aria-busy={isPlaceholderData}
          className={`divide-y divide-line rounded-xl border border-line bg-surface ${isPlaceholderData ? 'opacity-60' : ''}`}
        >
          {entries.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
      {data !== undefined && <ErrorNotice error={query.error} />}
      <LoadMoreButton
        next={last?.next}
        isBusy={query.isFetchingNextPage}
        isEmpty={last?.entries.length === 0}
        onLoadMore={() => void query.fetchNextPage()}
      />
    </>
  )
}

function NoEntries({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <EmptyState title="No entries yet">Actions by members, API keys and applications are listed here.</EmptyState>
    )
  }
  return (
    <EmptyState
      title="No entries found"
      action={
        <TextLink to="?" replace>
          Show all entries
        </TextLink>
      }
    >
      No entry matches these filters.
    </EmptyState>
  )
}

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const { at, mode, actor, action } = entry
  const more = listDetails(entry)
  const hasSubject = showsSubject(entry)
  return (
    <li className="grid gap-x-6 gap-y-0.5 px-4 py-3 sm:grid-cols-[minmax(0,1fr)_auto] sm:px-5">
      <p>
        <Actor actor={actor} /> {formatAction(action)}
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

/** Who acted, with a link to all that they did. */
function Actor({ actor }: Pick<AuditEntry, 'actor'>) {
  const { kind, id, known } = actor
  return (
    <>
      <Link
        to={{ search: new URLSearchParams({ actor: id ?? kind }).toString() }}
        title="Show everything by this actor"
        className="rounded-sm font-bold hover:underline"
      >
        <bdi>{formatActor(actor)}</bdi>
      </Link>
      {known?.former === true && <FormerMember />}
    </>
  )
}

/** The subject of an entry, with a link if the subject has a page. */
function Subject({ entry }: { readonly entry: AuditEntry }) {
  const { slug } = useWorkspace()
  const { subject, known_subject: known } = entry
  if (subject === null) return null
  const text =
    known === null ? (
      <span className="font-mono break-all">{subject}</span>
    ) : (
      <bdi title={subject} className="font-semibold break-words">
        {known.name}
      </bdi>
    )
  const location = locateSubject(entry)
  return (
    <span>
      {location === null ? text : <TextLink to={pathTo(slug, location.mode, ...location.parts)}>{text}</TextLink>}
      {known?.former === true && <FormerMember />}
    </span>
  )
}

function FormerMember() {
  return <span className="text-muted"> (former member)</span>
}
