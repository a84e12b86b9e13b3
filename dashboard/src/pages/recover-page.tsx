import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate } from 'react-router'
import { addPasskey } from '../api/passkeys.ts'
import { recover, sessionQuery } from '../api/session.ts'
import type { Session } from '../api/wire.ts'
import { NameForm } from '../components/name-form.tsx'
import { PageHeading } from '../components/page-heading.tsx'
import { TextButton, TextLink } from '../components/text-link.tsx'
import { withNext } from '../navigation/next-path.ts'
import { PASSKEY_NAME_CHARS_MAX, PASSKEY_NAME_HINT } from './account/passkey-name.ts'
import { useNextPath } from './use-next-path.ts'
import { useSessionWithoutRefetch } from './use-session-without-refetch.ts'

/** What a person may type around a code's twenty characters: hyphens, spaces. */
const CODE_CHARS_MAX = 60

export function RecoverPage() {
  const next = useNextPath()
  const client = useQueryClient()
  const { data: session } = useSessionWithoutRefetch()
  const [recovered, setRecovered] = useState<Session | null>(null)

  if (session !== null && session !== undefined) return <Navigate to={next} replace />
  if (recovered !== null) {
    const goOn = () => client.invalidateQueries({ queryKey: sessionQuery.queryKey })
    return (
      <>
        <PageHeading
          key="passkey"
          title="Add a passkey"
          isStep
          lead={`Welcome back, ${recovered.user.name}. The code is used up; ${codesLeft(recovered)}. Make this device your new way in.`}
        />
        <NameForm
          label="Name of the passkey"
          hint={PASSKEY_NAME_HINT}
          submitLabel="Add a passkey"
          variant="primary"
          charsMax={PASSKEY_NAME_CHARS_MAX}
          onSubmit={async (name) => {
            await addPasskey(name)
            await goOn()
          }}
        />
        <p className="border-t border-line pt-5">
          <TextButton onClick={() => void goOn()}>Go on without one</TextButton>
        </p>
      </>
    )
  }
  return (
    <>
      <PageHeading
        key="code"
        title="Use a recovery code"
        lead="One of the codes that you kept when you signed up. It works once."
      />
      <NameForm
        label="Recovery code"
        hint="Capitals, spaces and hyphens don’t matter."
        submitLabel="Sign in"
        variant="primary"
        isMono
        charsMax={CODE_CHARS_MAX}
        onSubmit={async (code) => setRecovered(await recover(code))}
      />
      <p className="border-t border-line pt-5 text-muted">
        Found your passkey? <TextLink to={withNext('/sign-in', next)}>Sign in with it</TextLink>
      </p>
    </>
  )
}

function codesLeft({ recovery_codes_left: count }: Session): string {
  if (count === 0) return 'it was your last one'
  return count === 1 ? 'you have one left' : `you have ${count} left`
}
