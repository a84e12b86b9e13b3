import type { WalletPasskey } from '@bursar/server/src/console/contract/wallet-passkeys.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { changeOwner, signRecord } from '../../api/owners.ts'
import { Button } from '../../components/button.tsx'
import { Section } from '../../components/section.tsx'
import { useCancel } from '../../components/use-cancel.ts'
import { SignerStatus } from '../../components/signer-status.tsx'
import type { SignerWindow } from '../../signer/signer-window.ts'
import { useSigner } from '../../components/use-signer.ts'
import { usePasskeyChoice } from './passkey-choice.ts'
import { PasskeyChoiceField } from './passkey-choice-field.tsx'
import { useSignedWallet } from '../grants/use-signed-wallet.ts'

interface NewOwnerFormProps {
  readonly wallet: Wallet
  /** The user's wallet passkeys that do not own the wallet yet. */
  readonly passkeys: readonly WalletPasskey[]
  readonly onChanged: () => Promise<void>
  readonly onClose: () => void
}

/**
 * Adds a passkey to the owners of a wallet. A passkey that already owns the wallet signs the addition, then the new
 * passkey confirms the wallet.
 */
export function NewOwnerForm({ wallet, passkeys, onChanged, onClose }: NewOwnerFormProps) {
  const cancel = useCancel(onClose)
  const choice = usePasskeyChoice(passkeys)
  const signed = useSignedWallet()(wallet)
  const addition = useSigner({
    run: async (signer: SignerWindow) => {
      const credentialId = await choice.resolve(signer)
      await changeOwner(signer, signed, { change: 'add', credentialId })
      // The passkey is an owner now. If it does not confirm the wallet here, the user can do so in the list of owners.
      await signRecord(signer, signed, credentialId).catch(() => null)
    },
    needsProof: true,
    onSuccess: onClose,
    onSettled: onChanged,
  })
  return (
    <div className="max-w-xl rounded-xl border border-line bg-surface p-5">
      <Section title="Add a passkey" takesFocus>
        <form
          className="grid gap-5"
          onSubmit={(event) => {
            event.preventDefault()
            if (choice.isComplete) addition.start()
          }}
        >
          <PasskeyChoiceField label="Passkey to add" choice={choice} />
          <p className="text-[0.9375rem] text-muted">
            Keep this passkey on a different device from the {wallet.owners.length === 1 ? 'first' : 'others'}, so that
            you can’t lose {wallet.owners.length === 1 ? 'both' : 'all of them'} at the same time. In the signer window,{' '}
            {choice.credentialId === null ? 'you first create the passkey. Then you sign with' : 'you sign with'} a
            passkey that already owns the wallet, and after that with the added one.
          </p>
          <SignerStatus signer={addition} isCreation={choice.credentialId === null} />
          <p className="flex flex-wrap gap-3">
            <Button type="submit" variant="primary" isBusy={addition.isPending}>
              Sign and add
            </Button>
            <Button variant="quiet" onClick={cancel}>
              Cancel
            </Button>
          </p>
        </form>
      </Section>
    </div>
  )
}
