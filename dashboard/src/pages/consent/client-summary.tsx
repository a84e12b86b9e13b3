import type { AuthorizationRequest } from '../../api/wire.ts'
import { HostText } from '../../components/host-text.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { TimeText } from '../../components/time-text.tsx'

/** Longer ones are set smaller. */
const BIG_HOST_CHARS_MAX = 24

/**
 * Who asks. Anybody may register under any name, so the identity is the host that the answer goes to: that is all that
 * is known for sure (OAuth 2.1, section 7.3).
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
            It calls itself “<bdi className="font-semibold text-ink">{name}</bdi>”; nobody has checked that. It first
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
            Any program on this computer can ask like this. Approve only if you have just started one, and it sent you
            here.
          </p>
        </Notice>
      )}
    </div>
  )
}
