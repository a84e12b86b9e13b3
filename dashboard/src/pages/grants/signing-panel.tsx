import { useQuery, type UseMutationResult } from '@tanstack/react-query'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { grantQuery } from '../../api/grants.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { formatOwner } from '../../format/owner-text.ts'
import { listChanges } from '../../format/grant-changes.ts'
import { isAdmin } from '../../roles.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { ChangesList } from './changes-list.tsx'

interface SigningPanelProps {
  readonly grant: Grant
  /** Null while loading. */
  readonly owner: Wallet['owner'] | null
  readonly recipients: readonly Recipient[]
  readonly signature: UseMutationResult<Grant, Error, void>
}

/** The button to sign a pending grant, for the wallet's owner. Others see who has to sign. */
export function SigningPanel({ grant, owner, recipients, signature }: SigningPanelProps) {
  const { slug, mode, role } = useWorkspace()
  const { data: old } = useQuery({
    ...grantQuery(slug, mode, grant.replaces ?? ''),
    enabled: grant.replaces !== null,
  })
  const canSign = isAdmin(role) && grant.is_mine_to_sign
  return (
    <div className="grid gap-5 border-t border-line pt-5">
      {old !== undefined && (
        <div className="grid gap-3">
          <h2 className="font-bold">Changes</h2>
          <ChangesList changes={listChanges(old, grant)} recipients={recipients} />
        </div>
      )}
      <ErrorNotice error={signature.error} />
      {canSign ? (
        <div className="grid justify-items-start gap-2">
          <Button variant="primary" disabled={signature.isPending} onClick={() => signature.mutate()}>
            {signature.isPending ? 'Waiting for your passkey…' : 'Sign with your passkey'}
          </Button>
          <p className="text-sm text-muted">
            {mode === 'live' && <strong className="text-warning">This is real money. </strong>}
            You sign exactly the terms above{owner === null ? '' : `, with ${formatOwner(owner)}`}. You can also sign
            later.
          </p>
        </div>
      ) : (
        <p>{owner === null ? 'Only the owner of the wallet can sign this grant.' : <OwnerSigns owner={owner} />}</p>
      )}
    </div>
  )
}

function OwnerSigns({ owner }: { readonly owner: Wallet['owner'] }) {
  // Nobody can be asked to sign with a passkey that was removed.
  const isRemoved = owner.passkey_name === null
  return (
    <>
      Only <bdi className="font-semibold">{formatOwner(owner)}</bdi>, which owns the wallet, can sign this grant.
      {!isRemoved && <span className="text-muted"> Send the link to this page to that passkey’s owner.</span>}
    </>
  )
}
