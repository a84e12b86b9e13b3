import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { SelectField } from '../../components/select-field.tsx'
import { formatShortAddress } from '../../format/address.ts'
import { formatAmount } from '../../format/amount.ts'

interface WalletFieldProps {
  readonly wallets: readonly Wallet[]
  readonly address: string
  readonly error: string | undefined
  readonly onChange: (address: string) => void
}

/** The wallet of a grant, with its balance. */
export function WalletField({ wallets, address, error, onChange }: WalletFieldProps) {
  const wallet = wallets.find((candidate) => candidate.address === address)
  return (
    <SelectField
      label="Wallet"
      value={address}
      placeholder="Choose a wallet"
      choices={wallets.map((candidate) => ({
        value: candidate.address,
        text: `${candidate.name} (${formatShortAddress(candidate.address)})`,
      }))}
      hint={
        wallet === undefined || wallet.balance_usdc === null
          ? undefined
          : `Balance: ${formatAmount(wallet.balance_usdc)} USDC.`
      }
      error={error}
      onChange={onChange}
    />
  )
}
