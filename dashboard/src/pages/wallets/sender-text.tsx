import { RecipientText } from '../payments/recipient-text.tsx'

/** Transfers of newly minted USDC come from this address. */
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

interface SenderTextProps {
  readonly address: string
  /** The text before the sender. Left out for newly minted USDC. */
  readonly lead?: string
}

/** The sender of a deposit: the name in the address book, or the shortened address. */
export function SenderText({ address, lead = '' }: SenderTextProps) {
  if (address === ZERO_ADDRESS) return 'Newly minted USDC'
  return (
    <>
      {lead}
      <RecipientText address={address} />
    </>
  )
}
