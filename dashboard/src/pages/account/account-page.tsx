import { useMutation } from '@tanstack/react-query'
import { signOut, signOutElsewhere } from '../../api/session.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../components/session-context.ts'
import { PasskeysSection } from './passkeys-section.tsx'
import { RecoverySection } from './recovery-section.tsx'

export function AccountPage() {
  const { user } = useSession()
  const out = useMutation({ mutationFn: () => signOut('/sign-in') })
  const elsewhere = useMutation({ mutationFn: signOutElsewhere })
  return (
    <>
      <PageHeading title="Your account" lead={`You are signed in as ${user.name}.`} />
      <PasskeysSection />
      <RecoverySection />
      <Section title="This session" lead="It ends by itself after 12 hours without use, and after 7 days in any case.">
        <p className="flex flex-wrap gap-3">
          <Button disabled={out.isPending} onClick={() => out.mutate()}>
            Sign out
          </Button>
          <Button disabled={elsewhere.isPending} onClick={() => elsewhere.mutate()}>
            Sign out everywhere else
          </Button>
        </p>
        <p role="status" className="empty:sr-only">
          {elsewhere.data !== undefined && sayEnded(elsewhere.data)}
        </p>
        <ErrorNotice error={out.error ?? elsewhere.error} />
      </Section>
    </>
  )
}

function sayEnded(count: number): string {
  if (count === 0) return 'You are signed in nowhere else.'
  return count === 1 ? 'You are signed out of one other browser.' : `You are signed out of ${count} other browsers.`
}
