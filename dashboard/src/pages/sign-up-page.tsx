import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate } from 'react-router'
import { sessionQuery, signUp, signUpPolicyQuery, type SignedUp } from '../api/session.ts'
import { Notice } from '../components/notice.tsx'
import { NameForm } from '../components/name-form.tsx'
import { PageHeading } from '../components/page-heading.tsx'
import { RecoveryCodes } from '../components/recovery-codes.tsx'
import { TextLink } from '../components/text-link.tsx'
import { parseInvitationToken, withNext } from '../navigation/next-path.ts'
import { SignInReason } from './sign-in-reason.tsx'
import { NoPasskeysNotice } from './no-passkeys-notice.tsx'
import { useNextPath } from './use-next-path.ts'
import { useSessionWithoutRefetch } from './use-session-without-refetch.ts'

export function SignUpPage() {
  const next = useNextPath()
  const client = useQueryClient()
  const { data: session } = useSessionWithoutRefetch()
  const { data: policy } = useQuery(signUpPolicyQuery)
  const invitation = parseInvitationToken(next)
  const [signedUp, setSignedUp] = useState<SignedUp | null>(null)

  // As soon as the session is stored, this page redirects to the next one. The recovery codes are shown only once, so
  // the session is stored after the user has saved them.
  if (session !== null && session !== undefined) return <Navigate to={next} replace />
  if (signedUp !== null) {
    const proceed = () => client.setQueryData(sessionQuery.queryKey, signedUp.session)
    return (
      <>
        <PageHeading key="codes" title="Save your recovery codes" isStep />
        <RecoveryCodes codes={signedUp.recovery_codes} onSaved={proceed} />
      </>
    )
  }
  return (
    <>
      <PageHeading key="name" title="Create an account" lead={<SignInReason next={next} />} />
      {policy === 'invited' && invitation === null && (
        <Notice>
          <p>
            <strong>You need an invitation to create an account.</strong> Open your invitation link and create your
            account from there.
          </p>
        </Notice>
      )}
      <NoPasskeysNotice />
      <NameForm
        label="Your name"
        hint="Visible to other members of your workspaces."
        submitLabel="Create a passkey"
        variant="primary"
        autoComplete="name"
        charsMax={NAME_CHARS_MAX}
        onSubmit={async (name) => setSignedUp(await signUp(name, invitation))}
      />
      <p className="border-t border-line pt-5 text-muted">
        Already have an account? <TextLink to={withNext('/sign-in', next)}>Sign in</TextLink>
      </p>
    </>
  )
}
