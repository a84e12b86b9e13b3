import { useQueries } from '@tanstack/react-query'
import { passkeysQuery, sessionsQuery, walletPasskeysQuery } from '../../api/queries.ts'
import { PageHeading } from '../../components/page-heading.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { useSession } from '../../components/session-context.ts'
import { PasskeysSection } from './passkeys-section.tsx'
import { RecoverySection } from './recovery-section.tsx'
import { SessionsSection } from './sessions-section.tsx'
import { WalletPasskeysSection } from './wallet-passkeys-section.tsx'

export function AccountPage() {
  const { user } = useSession()
  // The sections appear together, so that none of them moves when another one has loaded.
  const isLoading = useQueries({ queries: [passkeysQuery, walletPasskeysQuery, sessionsQuery] }).some(
    ({ isPending }) => isPending,
  )
  return (
    <>
      <PageHeading title="Your account" lead={`You are signed in as ${user.name}.`} />
      {isLoading ? (
        <Skeleton lines={9} />
      ) : (
        <>
          <PasskeysSection />
          <WalletPasskeysSection />
          <RecoverySection />
          <SessionsSection />
        </>
      )}
    </>
  )
}
