import { PageHeading } from '../../components/page-heading.tsx'
import { useSession } from '../../components/session-context.ts'
import { PasskeysSection } from './passkeys-section.tsx'
import { RecoverySection } from './recovery-section.tsx'
import { SessionsSection } from './sessions-section.tsx'

export function AccountPage() {
  const { user } = useSession()
  return (
    <>
      <PageHeading title="Your account" lead={`You are signed in as ${user.name}.`} />
      <PasskeysSection />
      <RecoverySection />
      <SessionsSection />
    </>
  )
}
