import { RecipientText } from '../payments/recipient-text.tsx'

/** What USDC comes from when it is made. */
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

interface SenderTextProps {
  readonly address: string
  /** What to say before somebody who sent it. */
  readonly lead?: string
}

/** Where a deposit came from: by the name in the recipient book, else the address by its ends. */
export function SenderText({ address, lead = '' }: SenderTextProps) {
  if (address === ZERO_ADDRESS) return 'Newly minted USDC'
  return (
    <>
      {lead}
      <RecipientText address={address} />
    </>
  )
}
