import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { formatOwner } from '../../format/owner-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { useGrantActions } from './use-grant-actions.ts'

interface GrantActionsProps {
  readonly grant: Grant
  /** Null while loading. */
  readonly owner: Wallet['owner'] | null
  readonly actions: ReturnType<typeof useGrantActions>
}

/** The actions available for a grant in its current state. Actions that need another user's passkey are not offered. */
export function GrantActions({ grant, owner, actions }: GrantActionsProps) {
  const { to } = useWorkspace()
  if (grant.status === 'revoked') return null
  if (grant.status === 'pending') {
    return (
      <ConfirmDialog
        label="Discard"
        title="Discard this grant?"
        confirmLabel="Discard grant"
        onConfirm={actions.revoke}
      >
        This grant was never in force, so discarding it does not change what the agent can pay.
        {grant.replaces !== null && ' The grant that it would replace stays in force.'}
      </ConfirmDialog>
    )
  }
  return (
    <>
      {grant.state === 'active' && (
        <ConfirmDialog
          label="Suspend"
          title={`Suspend the grant for “${grant.agent_id}”?`}
          confirmLabel="Suspend grant"
          onConfirm={actions.suspend}
        >
          The agent can’t pay from this moment on. To resume, the wallet’s owner must sign a replacement.
        </ConfirmDialog>
      )}
      <ButtonLink to={to('grants', grant.id, 'replace')}>Replace grant</ButtonLink>
      {grant.is_mine_to_sign && (
        <ConfirmDialog
          label="Revoke"
          title={`Revoke the grant for “${grant.agent_id}”?`}
          confirmLabel="Sign and revoke"
          onConfirm={actions.revoke}
        >
          The grant ends permanently, and the agent can’t pay from “{grant.wallet_name}” any more. You will be asked to
          sign this with {owner === null ? 'your passkey' : formatOwner(owner)}.
        </ConfirmDialog>
      )}
    </>
  )
}
