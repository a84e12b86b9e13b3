import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate } from 'react-router'
import type { Session } from '@bursar/server/src/console/contract/session.ts'
import { addPasskey } from '../api/passkeys.ts'
import { recover, sessionQuery } from '../api/session.ts'
import { NameForm } from '../components/name-form.tsx'
import { PageHeading } from '../components/page-heading.tsx'
import { TextButton, TextLink } from '../components/text-link.tsx'
import { withNext } from '../navigation/next-path.ts'
import { PASSKEY_NAME_HINT } from '../format/name-hints.ts'
import { useNextPath } from './use-next-path.ts'
import { useSessionWithoutRefetch } from './use-session-without-refetch.ts'

/** A code has 20 characters. The other 40 leave room for hyphens and spaces. */
const CODE_CHARS_MAX = 60

export function RecoverPage() {
  const next = useNextPath()
  const client = useQueryClient()
  const { data: session } = useSessionWithoutRefetch()
  const [recovered, setRecovered] = useState<Session | null>(null)

  if (session !== null && session !== undefined) return <Navigate to={next} replace />
  if (recovered !== null) {
    const proceed = () => client.invalidateQueries({ queryKey: sessionQuery.queryKey })
    return (
      <>
        <PageHeading
          key="passkey"
          title="Add a passkey"
          isStep
          lead={`Welcome back, ${recovered.user.name}. That code can’t be used again. ${codesLeft(recovered)} Add a passkey on this device to sign in without codes.`}
        />
        <NameForm
          label="Passkey name"
          hint={PASSKEY_NAME_HINT}
          submitLabel="Add a passkey"
          variant="primary"
          charsMax={NAME_CHARS_MAX}
          onSubmit={async (name) => {
            await addPasskey(name)
            await proceed()
          }}
        />
        <p className="border-t border-line pt-5">
          <TextButton onClick={() => void proceed()}>Continue without a passkey</TextButton>
        </p>
      </>
    )
  }
  return (
    <>
      <PageHeading
        key="code"
        title="Use a recovery code"
        lead="Enter one of your newest recovery codes. Each code works once."
      />
      <NameForm
        label="Recovery code"
        hint="Upper and lower case, spaces and hyphens don’t matter."
        submitLabel="Sign in"
        variant="primary"
        isMono
        charsMax={CODE_CHARS_MAX}
        onSubmit={async (code) => setRecovered(await recover(code))}
      />
      <p className="border-t border-line pt-5 text-muted">
        Have your passkey? <TextLink to={withNext('/sign-in', next)}>Sign in with it</TextLink>
      </p>
    </>
  )
}

function codesLeft({ recovery_codes_left: count }: Session): string {
  if (count === 0) return 'It was your last one.'
  return count === 1 ? 'You have one code left.' : `You have ${count} codes left.`
}
