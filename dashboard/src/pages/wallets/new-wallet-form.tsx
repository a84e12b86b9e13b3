import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import type { WalletPasskey } from '@bursar/server/src/console/contract/wallet-passkeys.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { walletPasskeysQuery } from '../../api/queries.ts'
import { liveKey } from '../../api/query-key.ts'
import { signRecord } from '../../api/owners.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { readFormText } from '../../components/read-form-text.ts'
import { Notice } from '../../components/notice.tsx'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../components/session-context.ts'
import { TextField } from '../../components/text-field.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useCancel } from '../../components/use-cancel.ts'
import { NoSignerNotice, SignerStatus } from '../../components/signer-status.tsx'
import type { SignerWindow } from '../../signer/signer-window.ts'
import { useSigner } from '../../components/use-signer.ts'
import { PlanFullNotice, useIsPlanFull } from '../workspace/plan-full-notice.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { usePasskeyChoice } from './passkey-choice.ts'
import { PasskeyChoiceField } from './passkey-choice-field.tsx'
import { useSignedWallet } from '../grants/use-signed-wallet.ts'

/** Creates a wallet that one of the user's wallet passkeys owns, and opens its page. */
export function NewWalletForm(props: { readonly onCancel: () => void }) {
  const onCancel = useCancel(props.onCancel)
  const { signer_url: signerUrl } = useSession()
  const { data: passkeys, error, refetch } = useQuery(walletPasskeysQuery)
  const isFull = useIsPlanFull('wallets')
  const close = (
    <p>
      <Button onClick={onCancel}>Close</Button>
    </p>
  )
  return (
    <div className="max-w-xl rounded-xl border border-line bg-surface p-5">
      <Section title="New wallet" takesFocus>
        {isFull ? (
          <>
            <PlanFullNotice kind="wallets" />
            {close}
          </>
        ) : signerUrl === null ? (
          <>
            <NoSignerNotice />
            {close}
          </>
        ) : passkeys === undefined ? (
          <QueryState error={error} onRetry={refetch} lines={2} />
        ) : (
          <WalletForm passkeys={passkeys} onCancel={onCancel} />
        )}
      </Section>
    </div>
  )
}

interface WalletFormProps {
  readonly passkeys: readonly WalletPasskey[]
  readonly onCancel: () => void
}

function WalletForm({ passkeys, onCancel }: WalletFormProps) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const choice = usePasskeyChoice(passkeys)
  const toSigned = useSignedWallet()
  const create = async (signer: SignerWindow, name: string): Promise<Wallet> => {
    const credentialId = await choice.resolve(signer)
    const input = { params: { slug }, body: { mode, name, credential_id: credentialId } }
    const { wallet } = await request('POST /console/workspaces/:slug/wallets', input)
    // The wallet exists now. If the passkey does not confirm it here, the user can do so on the wallet's page.
    return await signRecord(signer, toSigned(wallet), credentialId).catch(() => wallet)
  }
  const creation = useSigner({
    run: create,
    needsProof: true,
    onSuccess: async (wallet) => {
      await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
      await client.invalidateQueries({ queryKey: walletPasskeysQuery.queryKey })
      await navigate(to('wallets', wallet.address))
    },
  })
  return (
    <form
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        const name = readFormText(event.currentTarget, 'name')
        if (name !== '' && choice.isComplete) creation.start(name)
      }}
    >
      <TextField
        name="name"
        label="Name"
        hint="A name such as “Main wallet” or “Research”. Members of this workspace see it."
        required
        maxLength={NAME_CHARS_MAX}
        autoComplete="off"
      />
      <PasskeyChoiceField label="Wallet passkey" choice={choice} />
      <Notice tone={mode === 'live' ? 'warning' : 'plain'}>
        <p>
          This passkey will own the wallet. It signs grants and withdrawals in the signer window, which shows what you
          sign. It is not the passkey that you sign in with.
        </p>
        {mode === 'live' && (
          <p>
            <strong>This is live mode.</strong> The wallet will hold real money. Add a second passkey before you send
            any.
          </p>
        )}
      </Notice>
      <SignerStatus signer={creation} isCreation={choice.credentialId === null} />
      <p className="flex flex-wrap gap-3">
        <Button type="submit" variant="primary" isBusy={creation.isPending}>
          Create wallet
        </Button>
        <Button variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </p>
    </form>
  )
}
