import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { SelectField } from '../../components/select-field.tsx'
import { formatWalletChoice } from '../../format/wallet-text.ts'
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
        text: formatWalletChoice(candidate),
      }))}
      hint={wallet === undefined ? undefined : describeWallet(wallet)}
      error={error}
      onChange={onChange}
    />
  )
}

function describeWallet({ balance_usdc, is_at_risk }: Wallet): string {
  const balance = balance_usdc === null ? [] : [`Balance: ${formatAmount(balance_usdc)} USDC.`]
  const risk = is_at_risk ? ['At risk: only one passkey owns this wallet.'] : []
  return [...balance, ...risk].join(' ')
}
