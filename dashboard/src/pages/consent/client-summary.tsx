import type { AuthorizationRequest } from '@bursar/server/src/console/contract/connections.ts'
import { HostText } from '../../components/host-text.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { TimeText } from '../../components/time-text.tsx'

/** Longer host names use a smaller font. */
const BIG_HOST_CHARS_MAX = 24

/**
 * Shows which application asks. Anyone can register under any name, so the heading shows the host that receives the
 * response: only that is verified (OAuth 2.1, section 7.3).
 */
export function ClientSummary({ client }: { readonly client: AuthorizationRequest['client'] }) {
  const { redirect_host: host, redirect_uri_kind, name, registered_at } = client
  const isLocal = redirect_uri_kind === 'loopback'
  const isBig = !isLocal && host.length <= BIG_HOST_CHARS_MAX
  const who = isLocal ? `An application on this computer (${host})` : host
  return (
    <div className="grid gap-4">
      <PageHeading
        title={`${who} wants to act for you`}
        lead={
          <p>
            It calls itself “<bdi className="font-semibold text-ink">{name}</bdi>”. This name is not verified. It first
            registered here on <TimeText at={registered_at} />.
          </p>
        }
      >
        <span className={`block min-w-0 leading-tight ${isBig ? 'text-3xl sm:text-4xl' : 'text-2xl'}`}>
          {isLocal ? 'An application on this computer ' : <HostText host={host} />}
          {isLocal && <span className="whitespace-nowrap">({host})</span>}
        </span>{' '}
        <span className="mt-1.5 mb-1 block text-lg font-semibold text-muted sm:text-xl">wants to act for you</span>
      </PageHeading>
      {isLocal && (
        <Notice tone="warning">
          <p>
            Any program on this computer can send this request. Approve only if you have just started connecting one.
          </p>
        </Notice>
      )}
    </div>
  )
}
