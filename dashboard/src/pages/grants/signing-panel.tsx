import { useQuery } from '@tanstack/react-query'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { grantQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { Notice } from '../../components/notice.tsx'
import { listChanges } from '../../format/grant-changes.ts'
import { canSign, formatOwners } from '../../format/owner-text.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { NoSignerNotice } from '../../components/signer-status.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { ChangesList } from './changes-list.tsx'
import { CannotSignText } from './cannot-sign-text.tsx'
import type { useGrantActions } from './use-grant-actions.ts'

interface SigningPanelProps {
  readonly grant: Grant
  /** The wallet of the grant. Null while loading. */
  readonly wallet: Wallet | null
  readonly recipients: readonly Recipient[]
  readonly signature: ReturnType<typeof useGrantActions>['signature']
}

/** The button to sign a pending grant, for owners of the wallet. Other users see who must sign. */
export function SigningPanel({ grant, wallet, recipients, signature }: SigningPanelProps) {
  const { slug, mode, role } = useWorkspace()
  const { data: old } = useQuery({
    ...grantQuery(slug, mode, grant.replaces ?? ''),
    enabled: grant.replaces !== null,
  })
  return (
    <div className="grid gap-5 border-t border-line pt-5">
      {old !== undefined && (
        <div className="grid gap-3">
          <h2 className="font-bold">Changes</h2>
          <ChangesList changes={listChanges(old, grant)} recipients={recipients} />
        </div>
      )}
      {wallet !== null && may(role, 'manageGrants') && canSign(wallet) ? (
        <div className="grid justify-items-start gap-2">
          <NoSignerNotice />
          <Button variant="primary" isBusy={signature.isPending} onClick={() => signature.start('activate')}>
            Sign with your wallet passkey
          </Button>
          <p className="text-sm text-muted">
            {mode === 'live' && <strong className="text-warning">This is real money. </strong>}
            The signer window shows the terms that you sign. Use{' '}
            <bdi>
              {formatOwners(
                wallet.owners.filter(({ is_mine }) => is_mine),
                'or',
              )}
            </bdi>
            . You can also sign later.
          </p>
        </div>
      ) : (
        wallet !== null && (
          <div className="grid gap-3">
            <CannotSignText wallet={wallet} />
            {!grant.is_mine_to_sign && grant.other_signers.length === 0 && <NobodyNotice />}
          </div>
        )
      )}
    </div>
  )
}

/** Shown if no owner of the wallet can sign, because none of them is an owner or admin of the workspace. */
function NobodyNotice() {
  return (
    <Notice tone="warning">
      <p>
        None of these people is an owner or admin of this workspace, so nobody can sign this grant now. Invite one of
        them again, or discard the grant and prepare one on another wallet.
      </p>
    </Notice>
  )
}
