import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { WalletPasskey } from '@bursar/server/src/console/contract/wallet-passkeys.ts'
import { walletPasskeysQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { createWalletPasskey } from '../../api/wallet-passkeys.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { EmptyList, List, ListItem } from '../../components/list.tsx'
import { NameForm } from '../../components/name-form.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { Section } from '../../components/section.tsx'
import { TextField } from '../../components/text-field.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { NoSignerNotice, SignerStatus } from '../../components/signer-status.tsx'
import { useSigner } from '../../components/use-signer.ts'
import { PASSKEY_NAME_HINT } from '../../format/name-hints.ts'

/** The passkeys with which the user owns wallets. The signer page creates and uses them. */
export function WalletPasskeysSection() {
  const { data: passkeys, error, refetch } = useQuery(walletPasskeysQuery)
  const client = useQueryClient()
  const refresh = () => client.invalidateQueries({ queryKey: walletPasskeysQuery.queryKey })
  return (
    <Section
      title="Wallet passkeys"
      lead="A wallet passkey can own wallets and sign for them. Wallet passkeys work in the signer window only, which shows what you sign. You can’t sign in with them."
    >
      {passkeys === undefined && <QueryState error={error} onRetry={refetch} />}
      {passkeys?.length === 0 && <EmptyList>No wallet passkeys yet.</EmptyList>}
      {passkeys !== undefined && passkeys.length > 0 && (
        <List>
          {passkeys.map((passkey) => (
            <WalletPasskeyRow key={passkey.credential_id} passkey={passkey} onChange={refresh} />
          ))}
        </List>
      )}
      <NoSignerNotice />
      <NewWalletPasskeyForm onCreated={refresh} />
    </Section>
  )
}

function NewWalletPasskeyForm({ onCreated }: { readonly onCreated: () => Promise<void> }) {
  const [name, setName] = useState('')
  const creation = useSigner({
    run: createWalletPasskey,
    needsProof: true,
    onSuccess: async () => {
      setName('')
      await onCreated()
    },
  })
  return (
    <form
      className="grid max-w-md gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== '') creation.start(name.trim())
      }}
    >
      <TextField
        name="name"
        label="New wallet passkey name"
        hint={PASSKEY_NAME_HINT}
        required
        maxLength={NAME_CHARS_MAX}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <SignerStatus signer={creation} isCreation />
      <p>
        <Button type="submit" isBusy={creation.isPending}>
          Add a wallet passkey
        </Button>
      </p>
    </form>
  )
}

interface WalletPasskeyRowProps {
  readonly passkey: WalletPasskey
  readonly onChange: () => Promise<void>
}

function WalletPasskeyRow({ passkey, onChange }: WalletPasskeyRowProps) {
  const { credential_id: id, name, wallets, created_at } = passkey
  const params = { credential_id: id }
  const [isRenaming, setRenaming] = useState(false)
  if (isRenaming) {
    return (
      <ListItem>
        <NameForm
          label="Name"
          submitLabel="Save"
          charsMax={NAME_CHARS_MAX}
          initial={name}
          onSubmit={async (text) => {
            await request('PATCH /console/wallet-passkeys/:credential_id', { params, body: { name: text } })
            await onChange()
            setRenaming(false)
          }}
          onCancel={() => setRenaming(false)}
        />
      </ListItem>
    )
  }
  return (
    <ListItem
      actions={
        <>
          <Button aria-label={`Rename ${name}`} onClick={() => setRenaming(true)}>
            Rename
          </Button>
          {wallets === 0 && (
            <ConfirmDialog
              label="Delete"
              labelDetail={name}
              title={`Delete “${name}”?`}
              confirmLabel="Delete passkey"
              onConfirm={async () => {
                await request('DELETE /console/wallet-passkeys/:credential_id', { params })
                await onChange()
              }}
            >
              It owns no wallet. Your device may still offer it until you delete it there as well.
            </ConfirmDialog>
          )}
        </>
      }
    >
      <p className="font-semibold">
        <bdi>{name}</bdi>
      </p>
      <p className="text-sm text-muted">
        Added <TimeText at={created_at} />. {describeWallets(wallets)}
      </p>
    </ListItem>
  )
}

function describeWallets(count: number): string {
  if (count === 0) return 'Owns no wallet.'
  return count === 1 ? 'Owns one wallet, so it can’t be deleted.' : `Owns ${count} wallets, so it can’t be deleted.`
}
