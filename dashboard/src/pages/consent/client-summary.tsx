import { Fragment, type ReactNode } from 'react'
import type { AuthorizationRequest } from '@bursar/server/src/console/contract/connections.ts'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { TimeText } from '../../components/time-text.tsx'

/** Longer host names use a smaller font. */
const BIG_HOST_CHARS_MAX = 24

interface ClientSummaryProps {
  readonly client: AuthorizationRequest['client']
}

/** Shows which application asks: one that describes itself in a document, or one that registered itself. */
export function ClientSummary({ client }: ClientSummaryProps) {
  const { document_host: host } = client
  return host === null ? <RegisteredClient client={client} /> : <DocumentClient client={client} host={host} />
}

/**
 * An application that describes itself in a document on the web. Only the owner of the document's host can publish it,
 * so the host identifies the application. The name in the document is not shown.
 */
function DocumentClient({ client, host }: ClientSummaryProps & { readonly host: string }) {
  const { redirect_host, redirect_uri_kind } = client
  const isLocal = redirect_uri_kind === 'loopback'
  return (
    <div className="grid gap-4">
      <PageHeading
        title={`${host} wants to act for you`}
        lead={
          <p>
            After your decision, this browser goes to {isLocal ? 'a program on this computer, at ' : ''}
            <strong className="inline-block max-w-full text-ink wrap-anywhere">
              <HostText host={redirect_host} />
            </strong>
            .
          </p>
        }
      >
        <HeadingHost isBig={host.length <= BIG_HOST_CHARS_MAX}>
          <HostText host={host} />
        </HeadingHost>
      </PageHeading>
      {isLocal && (
        <Notice tone="warning">
          <p>
            Any program on this computer can send this request and say that it is from {host}. Bursar cannot check which
            program it is. Approve only if you have just started to connect a program from {host}.
          </p>
        </Notice>
      )}
    </div>
  )
}

/**
 * An application that registered itself. Anyone can register an application under any name. So the heading shows the
 * host that receives the response, because only this host is verified (OAuth 2.1, section 7.3).
 */
function RegisteredClient({ client }: ClientSummaryProps) {
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
        <HeadingHost isBig={isBig}>
          {isLocal ? 'An application on this computer ' : <HostText host={host} />}
          {isLocal && (
            <span className="inline-block max-w-full wrap-anywhere">
              (<HostText host={host} />)
            </span>
          )}
        </HeadingHost>
      </PageHeading>
      {isLocal && (
        <Notice tone="warning">
          <p>
            Any program on this computer can send this request. Approve only if you have just started to connect a
            program.
          </p>
        </Notice>
      )}
    </div>
  )
}

function HeadingHost({ isBig, children }: { readonly isBig: boolean; readonly children: ReactNode }) {
  return (
    <>
      <span className={`block min-w-0 leading-tight ${isBig ? 'text-3xl sm:text-4xl' : 'text-2xl'}`}>{children}</span>{' '}
      <span className="mt-1.5 mb-1 block text-lg font-semibold text-muted sm:text-xl">wants to act for you</span>
    </>
  )
}

/** A host name. A long host name wraps after a dot where possible. */
function HostText({ host }: { readonly host: string }) {
  return (
    <bdi>
      {host.split('.').map((label, index) => (
        // The labels of a host name are never reordered, so the index is a stable key.
        <Fragment key={`${index} ${label}`}>
          {index > 0 && '.'}
          {index > 0 && <wbr />}
          {label}
        </Fragment>
      ))}
    </bdi>
  )
}
