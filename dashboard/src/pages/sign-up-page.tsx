import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate } from 'react-router'
import { sessionQuery, signUp, signUpPolicyQuery, type SignedUp } from '../api/session.ts'
import { Notice } from '../components/notice.tsx'
import { NameForm } from '../components/name-form.tsx'
import { PageHeading } from '../components/page-heading.tsx'
import { RecoveryCodes } from '../components/recovery-codes.tsx'
import { TextLink } from '../components/text-link.tsx'
import { invitationIn, withNext } from '../navigation/next-path.ts'
import { SignInReason } from './sign-in-reason.tsx'
import { NoPasskeysNotice } from './no-passkeys-notice.tsx'
import { useNextPath } from './use-next-path.ts'
import { useSessionWithoutRefetch } from './use-session-without-refetch.ts'

const NAME_CHARS_MAX = 100

export function SignUpPage() {
  const next = useNextPath()
  const client = useQueryClient()
  const { data: session } = useSessionWithoutRefetch()
  const { data: policy } = useQuery(signUpPolicyQuery)
  const invitation = invitationIn(next)
  const [signedUp, setSignedUp] = useState<SignedUp | null>(null)

  // The session is made known only after the codes: with it the page is left, and they are told once.
  if (session !== null && session !== undefined) return <Navigate to={next} replace />
  if (signedUp !== null) {
    const goOn = () => client.setQueryData(sessionQuery.queryKey, signedUp.session)
    return (
      <>
        <PageHeading key="codes" title="Keep your recovery codes" isStep />
        <RecoveryCodes codes={signedUp.recovery_codes} onKept={goOn} />
      </>
    )
  }
  return (
    <>
      <PageHeading key="name" title="Create an account" lead={<SignInReason next={next} />} />
      {policy === 'invited' && invitation === null && (
        <Notice>
          <p>
            <strong>Accounts are by invitation here.</strong> Open the link of your invitation, and create your account
            from there.
          </p>
        </Notice>
      )}
      <NoPasskeysNotice />
      <NameForm
        label="Your name"
        hint="Others in your workspaces see it."
        submitLabel="Create a passkey"
        variant="primary"
        autoComplete="name"
        charsMax={NAME_CHARS_MAX}
        onSubmit={async (name) => setSignedUp(await signUp(name, invitation))}
      />
      <p className="border-t border-line pt-5 text-muted">
        You have an account? <TextLink to={withNext('/sign-in', next)}>Sign in</TextLink>
      </p>
    </>
  )
}
