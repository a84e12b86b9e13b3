import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Passkey } from '@bursar/server/src/console/contract/passkeys.ts'
import { liveKey } from '../../api/changes.ts'
import { passkeysQuery } from '../../api/passkeys.ts'
import { createWallet } from '../../api/wallets.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { readFormText } from '../../components/read-form-text.ts'
import { Notice } from '../../components/notice.tsx'
import { Section } from '../../components/section.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { PlanFullNotice, useIsPlanFull } from '../workspace/plan-full-notice.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { useCancel } from '../../components/use-cancel.ts'
import { useAction } from '../../components/use-action.ts'

/** Creates a wallet owned by one of the user's passkeys, and opens its page. */
export function NewWalletForm(props: { readonly onCancel: () => void }) {
  const onCancel = useCancel(props.onCancel)
  const { data: passkeys, error, refetch } = useQuery(passkeysQuery)
  const isFull = useIsPlanFull('wallets')
  return (
    <div className="max-w-xl rounded-xl border border-line bg-surface p-5">
      <Section title="New wallet" takesFocus>
        {isFull ? (
          <>
            <PlanFullNotice kind="wallets" />
            <p>
              <Button onClick={onCancel}>Close</Button>
            </p>
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

const WALLET_NAME_CHARS_MAX = 100

interface WalletFormProps {
  readonly passkeys: readonly Passkey[]
  readonly onCancel: () => void
}

function WalletForm({ passkeys, onCancel }: WalletFormProps) {
  const { slug, mode, to } = useWorkspace()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [picked, setPicked] = useState(passkeys.length === 1 ? (passkeys[0]?.id ?? '') : '')
  const creation = useAction({
    mutationFn: (name: string) => createWallet(slug, { mode, name, credentialId: picked }),
    onSuccess: async (wallet) => {
      await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
      await navigate(to('wallets', wallet.address))
    },
  })
  if (passkeys.length === 0)
    return <p>You have no passkey. Add one in your account first, because a passkey must own the wallet.</p>
  const owner = passkeys.find(({ id }) => id === picked)
  return (
    <form
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        const name = readFormText(event.currentTarget, 'name')
        if (name !== '' && picked !== '' && !creation.isPending) creation.mutate(name)
      }}
    >
      <TextField
        name="name"
        label="Name"
        hint="Shown to members of this workspace, such as “Main wallet” or “Research”."
        required
        maxLength={WALLET_NAME_CHARS_MAX}
        autoComplete="off"
      />
      {passkeys.length > 1 && (
        <SelectField
          label="Owner passkey"
          value={picked}
          placeholder="Choose one of your passkeys"
          choices={passkeys.map(({ id, name }) => ({ value: id, text: name }))}
          isRequired
          onChange={setPicked}
        />
      )}
      <Notice tone={mode === 'live' ? 'warning' : 'plain'}>
        <p>
          {owner === undefined ? 'The passkey' : <strong>Your passkey “{owner.name}”</strong>} will own the wallet. Only
          this passkey can sign and revoke grants on it. The owner can’t be changed later, so don’t lose the passkey.
        </p>
        {mode === 'live' && (
          <p>
            <strong>This is live mode.</strong> The wallet will hold real money.
          </p>
        )}
      </Notice>
      <ErrorNotice error={creation.error} />
      <p className="flex flex-wrap gap-3">
        <Button type="submit" variant="primary" disabled={creation.isPending}>
          Create wallet
        </Button>
        <Button variant="quiet" disabled={creation.isPending} onClick={onCancel}>
          Cancel
        </Button>
      </p>
    </form>
  )
}
