import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { WalletPasskey } from '@bursar/server/src/console/contract/wallet-passkeys.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { walletPasskeysQuery } from '../../api/queries.ts'
import { liveKey } from '../../api/query-key.ts'
import { moveWallet } from '../../api/owners.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Notice } from '../../components/notice.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { Section } from '../../components/section.tsx'
import { useAction } from '../../components/use-action.ts'
import { formatOwners, isOwnedByMe } from '../../format/owner-text.ts'
import { isAdmin } from '../../format/roles.ts'
import { NoSignerNotice, SignerStatus } from '../../components/signer-status.tsx'
import { useSigner } from '../../components/use-signer.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { usePasskeyChoice } from './passkey-choice.ts'
import { PasskeyChoiceField } from './passkey-choice-field.tsx'
import { useSignedWallet } from '../grants/use-signed-wallet.ts'

/** Changes the owner of a wallet from a sign-in passkey to a wallet passkey. */
export function MoveSection({ wallet }: { readonly wallet: Wallet }) {
  const { role } = useWorkspace()
  const { data: passkeys, error, refetch } = useQuery(walletPasskeysQuery)
  return (
    <Section title="Move this wallet to a wallet passkey">
      <Notice tone="warning">
        <p>
          This wallet was created before wallet passkeys existed, so a sign-in passkey owns it. Its grants still work,
          but you can’t change or revoke them. You can’t create grants or withdraw until you move the wallet.
        </p>
        <p>
          The address and the balance stay the same. Moving ends the grants. You can create each one again afterwards.
        </p>
      </Notice>
      <NoSignerNotice />
      {!isOwnedByMe(wallet) || !isAdmin(role) ? (
        <p>
          Only <bdi className="font-semibold">{formatOwners(wallet.owners, 'or')}</bdi> can move this wallet.
        </p>
      ) : passkeys === undefined ? (
        <QueryState error={error} onRetry={refetch} lines={2} />
      ) : (
        <MoveForm wallet={wallet} passkeys={passkeys} />
      )}
    </Section>
  )
}

function MoveForm({ wallet, passkeys }: { readonly wallet: Wallet; readonly passkeys: readonly WalletPasskey[] }) {
  const { slug, mode } = useWorkspace()
  const client = useQueryClient()
  const choice = usePasskeyChoice(passkeys)
  const signed = useSignedWallet()(wallet)
  const creation = useSigner({ run: choice.resolve, needsProof: true })
  const move = useAction({
    mutationFn: (credentialId: string) => moveWallet(signed, credentialId),
    onSettled: () => client.invalidateQueries({ queryKey: liveKey(slug, mode) }),
  })
  const { credentialId } = choice
  const isPending = creation.isPending || move.isPending
  return (
    <form
      className="grid max-w-xl gap-5 rounded-xl border border-line bg-surface p-5"
      onSubmit={(event) => {
        event.preventDefault()
        if (isPending || !choice.isComplete) return
        if (credentialId === null) creation.start()
        else move.mutate(credentialId)
      }}
    >
      <PasskeyChoiceField label="Wallet passkey" choice={choice} />
      <p className="text-[0.9375rem] text-muted">
        {credentialId === null ? (
          'Step 1 of 2: create the wallet passkey. Step 2: move the wallet.'
        ) : (
          <>
            {creation.data !== undefined && 'Step 2 of 2: move the wallet. '}
            You sign the move once with <bdi>{formatOwners(wallet.owners, 'or')}</bdi>. Then you confirm the wallet with
            the wallet passkey, in the signer window.
          </>
        )}
      </p>
      <SignerStatus signer={creation} isCreation />
      <ErrorNotice error={move.error} />
      <p>
        <Button type="submit" variant="primary" disabled={isPending}>
          {credentialId === null ? 'Create the wallet passkey' : 'Sign and move the wallet'}
        </Button>
      </p>
    </form>
  )
}
