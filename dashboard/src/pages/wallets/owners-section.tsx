import { OWNERS_MAX } from '@bursar/server/src/domain/wallets/wallet.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { walletPasskeysQuery } from '../../api/queries.ts'
import { liveKey } from '../../api/query-key.ts'
import { changeOwner, signRecord } from '../../api/owners.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { List, ListItem } from '../../components/list.tsx'
import { Section } from '../../components/section.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { canSign, mustConfirm, type WalletOwner } from '../../format/owner-text.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { NoSignerNotice, SignerStatus } from '../../components/signer-status.tsx'
import { useSigner } from '../../components/use-signer.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { NewOwnerForm } from './new-owner-form.tsx'
import { OwnerKeys } from './owner-keys.tsx'
import { useSignedWallet } from '../grants/use-signed-wallet.ts'

/** The passkeys that own a wallet. Owners add and remove passkeys, and confirm the wallet. */
export function OwnersSection({ wallet }: { readonly wallet: Wallet }) {
  const { slug, mode, role } = useWorkspace()
  const client = useQueryClient()
  const toSigned = useSignedWallet()
  const [isAdding, setAdding] = useState(false)
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
    await client.invalidateQueries({ queryKey: walletPasskeysQuery.queryKey })
  }
  const confirmation = useSigner({
    run: (signer, credentialId: string) => signRecord(signer, toSigned(wallet), credentialId),
    onSettled: refresh,
  })
  const removal = useSigner({
    run: (signer, credentialId: string) => changeOwner(signer, toSigned(wallet), { change: 'remove', credentialId }),
    onSettled: refresh,
  })
  const { owners } = wallet
  const isChangeable = may(role, 'manageWallets') && canSign(wallet)
  const canRemove = ({ credential_id }: WalletOwner) =>
    isChangeable && owners.some((other) => other.credential_id !== credential_id && other.is_mine && other.has_record)
  return (
    <Section
      title="Owners"
      lead={
        owners.length > 1
          ? 'Any one of these passkeys is enough to sign for the wallet. If you lose one, use another to remove it.'
          : 'This passkey owns the wallet.'
      }
    >
      <NoSignerNotice />
      <List>
        {owners.map((owner) => (
          <ListItem
            key={owner.credential_id}
            actions={
              <>
                {may(role, 'manageWallets') && owner.is_mine && !owner.has_record && (
                  <Button
                    variant="primary"
                    isBusy={confirmation.isPending}
                    onClick={() => confirmation.start(owner.credential_id)}
                  >
                    Confirm the wallet
                  </Button>
                )}
                {canRemove(owner) && (
                  <ConfirmDialog
                    label="Remove"
                    labelDetail={owner.name ?? 'owner'}
                    title={`Remove “${owner.name ?? 'this passkey'}” from the owners?`}
                    confirmLabel="Sign and remove"
                    onConfirm={async () => removal.start(owner.credential_id)}
                  >
                    This passkey can no longer sign for “{wallet.name}”. You sign the removal in the signer window with
                    another passkey.
                  </ConfirmDialog>
                )}
              </>
            }
          >
            <OwnerText owner={owner} isNeeded={mustConfirm(wallet)} />
          </ListItem>
        ))}
      </List>
      <OwnerKeys wallet={wallet} />
      <SignerStatus signer={confirmation} />
      <SignerStatus signer={removal} />
      {isChangeable && owners.length < OWNERS_MAX && (
        <AddOwner wallet={wallet} isOpen={isAdding} onOpen={setAdding} onChanged={refresh} />
      )}
    </Section>
  )
}

interface OwnerTextProps {
  readonly owner: WalletOwner
  /** Whether the user must confirm the wallet with one of their passkeys before they can sign for it. */
  readonly isNeeded: boolean
}

function OwnerText({ owner, isNeeded }: OwnerTextProps) {
  const { name, user_name, is_mine, is_member, has_record, added_at } = owner
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <bdi className="font-semibold">{name ?? 'Removed passkey'}</bdi>
        {!has_record && <StatusBadge tone="warning">Not confirmed</StatusBadge>}
        {!is_member && <StatusBadge tone="warning">Former member</StatusBadge>}
      </p>
      <p className="text-sm text-muted">
        {is_mine ? 'Yours' : <bdi>{user_name ?? 'Of a former member'}</bdi>}, added <TimeText at={added_at} />
      </p>
      {!is_member && (
        <p className="text-sm text-muted">
          <bdi>{user_name}</bdi> is no longer a member, and can sign nothing here. Another owner should remove this
          passkey.
        </p>
      )}
      {!has_record && (
        <p className="text-sm text-muted">
          This passkey can’t sign grants or withdrawals yet.{' '}
          {is_mine
            ? 'First use it once to confirm the wallet, in the signer window.'
            : 'First its owner must use it once to confirm the wallet.'}
          {is_mine && isNeeded && ' Then you can create grants and withdraw.'}
        </p>
      )}
    </>
  )
}

interface AddOwnerProps {
  readonly wallet: Wallet
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
  readonly onChanged: () => Promise<void>
}

function AddOwner({ wallet, isOpen, onOpen, onChanged }: AddOwnerProps) {
  const { data: passkeys } = useQuery(walletPasskeysQuery)
  const owned = new Set(wallet.owners.map(({ credential_id }) => credential_id))
  if (!isOpen) {
    return (
      <p>
        <Button variant={wallet.owners.length === 1 ? 'primary' : 'plain'} onClick={() => onOpen(true)}>
          {wallet.owners.length === 1 ? 'Add a second passkey' : 'Add a passkey'}
        </Button>
      </p>
    )
  }
  if (passkeys === undefined) return null
  return (
    <NewOwnerForm
      wallet={wallet}
      passkeys={passkeys.filter(({ credential_id }) => !owned.has(credential_id))}
      onChanged={onChanged}
      onClose={() => onOpen(false)}
    />
  )
}
