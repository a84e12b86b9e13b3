import { useQueries, useQueryClient } from '@tanstack/react-query'
import { passkeysQuery, sessionsQuery, walletPasskeysQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { List, ListItem } from '../../components/list.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { RenameDialog } from '../../components/name-dialog.tsx'
import { Section } from '../../components/section.tsx'
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
      <NameSection name={user.name} />
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

/** The name under which other members see the user. */
function NameSection({ name }: { readonly name: string }) {
  const client = useQueryClient()
  const rename = async (text: string) => {
    await request('PATCH /console/user', { body: { name: text } })
    // Lists of members, keys and grants contain the name too.
    await client.invalidateQueries()
  }
  return (
    <Section title="Your name">
      <List>
        <ListItem
          actions={
            <RenameDialog name={name} onRename={rename}>
              Members of your workspaces see the new name at once. The audit log records the change.
            </RenameDialog>
          }
        >
          <p className="font-semibold">
            <bdi>{name}</bdi>
          </p>
        </ListItem>
      </List>
    </Section>
  )
}
