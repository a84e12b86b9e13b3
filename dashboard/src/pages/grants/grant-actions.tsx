import type { Grant, Wallet } from '../../api/wire-spending.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { formatOwner } from '../../format/owner-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { useGrantActions } from './use-grant-actions.ts'

interface GrantActionsProps {
  readonly grant: Grant
  /** Null while it is not known. */
  readonly owner: Wallet['owner'] | null
  readonly actions: ReturnType<typeof useGrantActions>
}

/** What can be done with a grant as it stands. What takes a passkey of somebody else's is not offered, but explained. */
export function GrantActions({ grant, owner, actions }: GrantActionsProps) {
  const { to } = useWorkspace()
  if (grant.status === 'revoked') return null
  if (grant.status === 'pending') {
    return (
      <ConfirmDialog
        label="Discard"
        title="Discard this grant?"
        confirmLabel="Discard the grant"
        onConfirm={actions.revoke}
      >
        It was never signed, so nothing is taken from anybody.
        {grant.replaces !== null && ' What it was to replace stays as it is.'}
      </ConfirmDialog>
    )
  }
  return (
    <>
      {grant.state === 'active' && (
        <ConfirmDialog
          label="Suspend"
          title={`Suspend the grant for “${grant.agent_id}”?`}
          confirmLabel="Suspend at once"
          onConfirm={actions.suspend}
        >
          From this moment on no payment passes. Only a new signature of the wallet’s owner brings it back, by replacing
          the policy.
        </ConfirmDialog>
      )}
      <ButtonLink to={to('grants', grant.id, 'replace')}>Replace policy</ButtonLink>
      {grant.is_mine_to_sign && (
        <ConfirmDialog
          label="Revoke"
          title={`Revoke the grant for “${grant.agent_id}”?`}
          confirmLabel="Sign and revoke"
          onConfirm={actions.revoke}
        >
          It ends for good, and the agent can’t pay from “{grant.wallet_name}” any more. You are asked for{' '}
          {owner === null ? 'your passkey' : formatOwner(owner)}: it takes the agent off the wallet.
        </ConfirmDialog>
      )}
    </>
  )
}
