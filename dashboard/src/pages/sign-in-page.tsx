import { useQueryClient } from '@tanstack/react-query'
import { Navigate } from 'react-router'
import { sessionQuery, signIn } from '../api/session.ts'
import { Button } from '../components/button.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { PageHeading } from '../components/page-heading.tsx'
import { TextLink } from '../components/text-link.tsx'
import { withNext } from '../navigation/next-path.ts'
import { SignInReason } from './sign-in-reason.tsx'
import { NoPasskeysNotice } from './no-passkeys-notice.tsx'
import { useNextPath } from './use-next-path.ts'
import { useSessionWithoutRefetch } from './use-session-without-refetch.ts'
import { useAction } from '../components/use-action.ts'

export function SignInPage() {
  const next = useNextPath()
  const client = useQueryClient()
  const { data: session } = useSessionWithoutRefetch()
  const signingIn = useAction({
    mutationFn: signIn,
    onSuccess: (opened) => client.setQueryData(sessionQuery.queryKey, opened),
  })
  if (session !== null && session !== undefined) return <Navigate to={next} replace />
  return (
    <>
      <PageHeading title="Sign in" lead={<SignInReason next={next} />} />
      <NoPasskeysNotice />
      <div className="grid gap-3">
        <Button variant="primary" wide isBusy={signingIn.isPending} onClick={() => signingIn.mutate()}>
          Sign in with a passkey
        </Button>
        <ErrorNotice error={signingIn.error} />
      </div>
      <div className="grid gap-3 border-t border-line pt-5 text-muted">
        <p>
          New here? <TextLink to={withNext('/sign-up', next)}>Create an account</TextLink>
        </p>
        <p>
          Don’t have your passkey? <TextLink to={withNext('/recover', next)}>Use a recovery code</TextLink>
        </p>
      </div>
    </>
  )
}
