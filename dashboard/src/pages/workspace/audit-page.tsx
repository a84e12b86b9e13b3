import { useInfiniteQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import type { AuditEntry } from '../../api/wire.ts'
import { auditQuery } from '../../api/workspaces.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { NoRows } from '../../components/rows.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatAction, formatActor, listDetails } from '../../format/audit-text.ts'
import { useWorkspace } from './workspace-context.ts'

export function AuditPage() {
  const { slug, name } = useWorkspace()
  const { data, error, isFetchingNextPage, hasNextPage, fetchNextPage } = useInfiniteQuery(auditQuery(slug))
  const entries = data?.pages.flatMap((page) => page.entries)
  return (
    <>
      <PageHeading
        title="Audit log"
        place={name}
        lead="Who did what, the latest first. Nothing is ever taken out of it."
      />
      {entries === undefined && error === null && <Loading />}
      {entries?.length === 0 && <NoRows>Nothing has happened yet.</NoRows>}
      {entries !== undefined && entries.length > 0 && (
        <ol className="divide-y divide-line rounded-xl border border-line bg-surface">
          {entries.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
      <ErrorNotice error={error} />
      {hasNextPage && (
        <p>
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older
          </Button>
        </p>
      )}
    </>
  )
}

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const { at, actor, action, subject, details } = entry
  const more = listDetails(details)
  return (
    <li className="grid gap-x-6 gap-y-0.5 px-4 py-3 sm:grid-cols-[1fr_auto] sm:px-5">
      <p>
        <strong>
          <bdi>{formatActor(actor)}</bdi>
        </strong>{' '}
        {formatAction(action)}
      </p>
      <p className="text-sm text-muted sm:text-right">
        <TimeText at={at} isExact />
      </p>
      {(subject !== null || more.length > 0) && (
        <p className="flex flex-wrap gap-x-4 text-sm text-muted sm:col-span-2">
          {subject !== null && <span className="font-mono break-all">{subject}</span>}
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
