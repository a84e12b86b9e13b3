import { useEffect, useRef, useState } from 'react'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import type { Withdrawal } from '../../api/withdrawals.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { RadioGroupField } from '../../components/radio-group-field.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import { formatShortAddress } from '../../format/address.ts'
import { addressError, fieldErrors } from '../../format/field-errors.ts'
import { useNetwork } from './use-network.ts'
import { WalletFunds } from './wallet-funds.tsx'

interface WithdrawFormProps {
  readonly wallet: Wallet
  /** The address book of the workspace. */
  readonly recipients: readonly Recipient[]
  /** What was entered before, if the user came back from the review. */
  readonly initial: Withdrawal | undefined
  readonly error: Error | null
  readonly isPending: boolean
  readonly onSubmit: (withdrawal: Withdrawal) => void
}

const OTHER = 'other'
const AMOUNT_CHOICES = [
  { value: 'some', text: 'An amount' },
  { value: 'everything', text: 'Everything' },
] as const

/** Asks for the recipient and the amount of a withdrawal. */
export function WithdrawForm({ wallet, recipients, initial, error, isPending, onSubmit }: WithdrawFormProps) {
  const network = useNetwork()
  const form = useRef<HTMLFormElement>(null)
  const [picked, setPicked] = useState(() => findPicked(recipients, initial?.to))
  const [address, setAddress] = useState(initial?.to ?? '')
  const [isEverything, setEverything] = useState(initial?.amountUsdc === null)
  const [amount, setAmount] = useState(initial?.amountUsdc ?? '')
  const isOther = picked === OTHER || recipients.length === 0
  const to = isOther ? address.trim() : picked
  const errors = fieldErrors(error)
  const toError = addressError(error, [to]) ?? errors['to']
  const amountError = errors['amount_usdc']
  const hasFieldError = toError !== undefined || amountError !== undefined
  useEffect(() => {
    if (hasFieldError) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [hasFieldError])
  return (
    <form
      ref={form}
      className="grid max-w-xl gap-6 rounded-xl border border-line bg-surface p-5 sm:p-6"
      onSubmit={(event) => {
        event.preventDefault()
        if (to !== '' && !isPending) onSubmit({ to, amountUsdc: isEverything ? null : amount.trim() })
      }}
    >
      <WalletFunds wallet={wallet} />
      {recipients.length > 0 && (
        <SelectField
          label="Recipient"
          value={picked}
          placeholder="Choose a recipient"
          choices={[
            ...recipients.map(({ address: value, label }) => ({
              value,
              text: `${label} (${formatShortAddress(value)})`,
            })),
            { value: OTHER, text: 'Another address' },
          ]}
          isRequired
          error={isOther ? undefined : toError}
          onChange={setPicked}
        />
      )}
      {isOther && (
        <TextField
          name="address"
          label="Address"
          mono
          required
          placeholder="0x…"
          pattern="\s*0x[0-9a-fA-F]{40}\s*"
          title="0x followed by 40 characters from 0 to 9 and a to f"
          hint={`A withdrawal can’t be taken back. Check that the address accepts USDC on ${network ?? 'this network'}.`}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={address}
          error={toError}
          onChange={(event) => setAddress(event.currentTarget.value)}
        />
      )}
      <RadioGroupField
        label="How much"
        value={isEverything ? 'everything' : 'some'}
        choices={AMOUNT_CHOICES}
        onChange={(value) => setEverything(value === 'everything')}
      />
      {isEverything ? (
        <p className="text-[0.9375rem] text-muted">
          The whole balance, without what pending payments have reserved. The next step shows the exact amount.
        </p>
      ) : (
        <TextField
          name="amount"
          label="Amount"
          unit="USDC"
          inputMode="decimal"
          required
          pattern="\s*\d+(\.\d{1,6})?\s*"
          title="A number with at most 6 decimals, such as 12.50"
          autoComplete="off"
          value={amount}
          error={amountError}
          onChange={(event) => setAmount(event.currentTarget.value)}
        />
      )}
      <p className="text-sm text-muted">
        A withdrawal has no memo: the owner signs the transfer itself, which has no place for a text.
      </p>
      {!hasFieldError && <ErrorNotice error={error} />}
      <p>
        <Button type="submit" variant="primary" isBusy={isPending}>
          Review withdrawal
        </Button>
      </p>
    </form>
  )
}

function findPicked(recipients: readonly Recipient[], to: string | undefined): string {
  if (to === undefined) return ''
  return recipients.some(({ address }) => address === to) ? to : OTHER
}
