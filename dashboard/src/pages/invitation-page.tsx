import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from 'react-router'
import type { OfferedInvitation } from '@bursar/server/src/console/contract/invitations.ts'
import { offeredInvitationQuery } from '../api/queries.ts'
import { hasCode, isSignedOut } from '../api/api-error.ts'
import { sessionQuery } from '../api/session.ts'
import { request } from '../api/request.ts'
import { Button, buttonClass } from '../components/button.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { Loading } from '../components/loading.tsx'
import { PageHeading } from '../components/page-heading.tsx'
import { SignedInAs } from '../components/signed-in-as.tsx'
import { TextLink } from '../components/text-link.tsx'
import { TimeText } from '../components/time-text.tsx'
import { withNext } from '../navigation/next-path.ts'
import { ROLE_TEXTS } from '../format/roles.ts'
import { useAction } from '../components/use-action.ts'

export function InvitationPage() {
  const token = useParams()['token'] ?? ''
  const here = `/invite/${encodeURIComponent(token)}`
  const session = useQuery(sessionQuery)
  const offer = useQuery(offeredInvitationQuery(token))

  if (offer.data !== undefined) {
    return (
      <>
        <Offer invitation={offer.data} />
        {session.data === undefined && session.error === null && <Loading />}
        {session.data === undefined && <ErrorNotice error={session.error} onRetry={() => void session.refetch()} />}
        {session.data === null && <SignInFirst here={here} />}
        {session.data !== undefined && session.data !== null && (
          <Accept
            token={token}
            userName={session.data.user.name}
            workspaceName={offer.data.workspace.name}
            here={here}
          />
        )}
      </>
    )
  }
  if (offer.error === null) return <Loading />
  if (isSignedOut(offer.error)) {
    return (
      <>
        <PageHeading title="You have been invited to a workspace" />
        <SignInFirst here={here} />
      </>
    )
  }
  if (!hasCode(offer.error, 'invitation_not_found')) {
    return (
      <>
        <PageHeading title="The invitation can’t be shown" />
        <ErrorNotice error={offer.error} onRetry={() => void offer.refetch()} />
        <p className="text-muted">
          <TextLink to="/">Go to your workspaces</TextLink>
        </p>
      </>
    )
  }
  return (
    <>
      <PageHeading title="This invitation can’t be used" />
      <ErrorNotice error={offer.error} />
      <p className="text-muted">
        Ask the person who sent it for a new link, or <TextLink to="/">go to your workspaces</TextLink>.
      </p>
    </>
  )
}

function Offer({ invitation }: { readonly invitation: OfferedInvitation }) {
  const { workspace, role, invited_by, expires_at } = invitation
  const { title, meaning } = ROLE_TEXTS[role]
  return (
    <>
      <PageHeading title={`Join ${workspace.name}`} lead={invited_by !== null && `${invited_by} invited you.`} />
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[auto_1fr]">
        <dt className="text-muted">Your role</dt>
        <dd>
          <strong>{title}</strong>: {meaning}
        </dd>
        <dt className="text-muted">Expires</dt>
        <dd>
          <TimeText at={expires_at} isExact />
        </dd>
      </dl>
    </>
  )
}

interface AcceptProps {
  readonly token: string
  readonly userName: string
  readonly workspaceName: string
  readonly here: string
}

function Accept({ token, userName, workspaceName, here }: AcceptProps) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const acceptance = useAction({
    mutationFn: async () => (await request('POST /console/invitations/accept', { body: { token } })).workspace,
    onSuccess: async ({ slug }) => {
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
      await navigate(`/w/${encodeURIComponent(slug)}`)
    },
  })
  return (
    <div className="grid gap-4">
      <Button variant="primary" wide isBusy={acceptance.isPending} onClick={() => acceptance.mutate()}>
        Join {workspaceName}
      </Button>
      <ErrorNotice error={acceptance.error} />
      <SignedInAs userName={userName} here={here} />
    </div>
  )
}

function SignInFirst({ here }: { readonly here: string }) {
  return (
    <div className="grid gap-3">
      <Link to={withNext('/sign-in', here)} className={buttonClass('primary')}>
        Sign in to join
      </Link>
      <Link to={withNext('/sign-up', here)} className={buttonClass('plain')}>
        Create an account
      </Link>
    </div>
  )
}
