import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { Button } from '../../components/button.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { canSign } from '../../format/owner-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { useGrantActions } from './use-grant-actions.ts'

interface GrantActionsProps {
  readonly grant: Grant
  /** The wallet of the grant. Null while loading. */
  readonly wallet: Wallet | null
  readonly actions: ReturnType<typeof useGrantActions>
}

/** A website that has a signature can use it until the signature expires (D67). */
const PURCHASES_UNDER_WAY =
  ' Purchases that the agent began in the last 5 minutes may still be paid, because the websites already have the signatures.'

/** The actions that a grant allows in its current status. Actions that need another user's passkey are not offered. */
export function GrantActions({ grant, wallet, actions }: GrantActionsProps) {
  const { to } = useWorkspace()
  const { signature } = actions
  if (grant.status === 'revoked') return null
  if (grant.status === 'pending') {
    return (
      <ConfirmDialog
        label="Discard"
        title="Discard this grant?"
        confirmLabel="Discard grant"
        onConfirm={async () => void (await actions.discard())}
      >
        This grant was never in force, so discarding it does not change what the agent can pay.
        {grant.replaces !== null && ' The grant that it would replace stays in force.'}
      </ConfirmDialog>
    )
  }
  const isSignable = wallet !== null && canSign(wallet)
  return (
    <>
      {grant.state === 'active' && (
        <ConfirmDialog
          label="Suspend"
          title={`Suspend the grant for “${grant.agent_id}”?`}
          confirmLabel="Suspend grant"
          onConfirm={async () => void (await actions.suspend())}
        >
          The agent can’t pay from this moment on. To let it pay again, an owner of the wallet must sign that the grant
          is resumed.
          {grant.x402 && PURCHASES_UNDER_WAY}
        </ConfirmDialog>
      )}
      {grant.state === 'suspended' && isSignable && (
        <Button variant="primary" isBusy={signature.isPending} onClick={() => signature.start('resume')}>
          Resume
        </Button>
      )}
      {wallet !== null && <ButtonLink to={to('grants', grant.id, 'replace')}>Replace grant</ButtonLink>}
      {isSignable && (
        <ConfirmDialog
          label="Revoke"
          title={`Revoke the grant for “${grant.agent_id}”?`}
          confirmLabel="Sign and revoke"
          onConfirm={async () => signature.start('revoke')}
        >
          The grant ends permanently, and the agent can’t pay from “{grant.wallet_name}” any more. You sign this in the
          signer window.
          {grant.x402 && PURCHASES_UNDER_WAY}
        </ConfirmDialog>
      )}
    </>
  )
}
