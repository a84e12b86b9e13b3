import { RecipientText } from './recipient-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Transfers of newly minted USDC come from this address. */
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

interface SenderTextProps {
  readonly address: string
  /** The text before the sender. Left out for newly minted USDC. */
  readonly lead?: string
}

/** The sender of a deposit: the name in the address book, or the shortened address. */
export function SenderText({ address, lead = '' }: SenderTextProps) {
  const { mode } = useWorkspace()
  if (address === ZERO_ADDRESS) return mode === 'test' ? 'Test USDC' : 'Newly issued USDC'
  return (
    <>
      {lead}
      <RecipientText address={address} />
    </>
  )
}
