import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { TextLink } from '../../components/text-link.tsx'
import { formatOwners, isOwnedByMe } from '../../format/owner-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface CannotSignTextProps {
  readonly wallet: Wallet
  /** What the form on this page creates. An owner signs it on the page of the new grant. */
  readonly creates?: 'grant' | 'replacement'
}

/** Explains why the user can't sign for a wallet, and who can. */
export function CannotSignText({ wallet, creates }: CannotSignTextProps) {
  const { to } = useWorkspace()
  if (isOwnedByMe(wallet)) {
    return (
      <p>
        You have not confirmed “<bdi>{wallet.name}</bdi>” with your passkey yet.{' '}
        <TextLink to={to('wallets', wallet.address)}>Confirm the wallet</TextLink> first.
      </p>
    )
  }
  const people = new Set(wallet.owners.filter(({ is_member }) => is_member).map(({ user_name }) => user_name)).size
  const whom = people === 1 ? 'that person' : 'one of them'
  return (
    <p>
      You can’t sign for this wallet. Only <bdi className="font-semibold">{formatOwners(wallet.owners, 'or')}</bdi> can.
      {people > 0 && (
        <span className="text-muted">
          {' '}
          {creates === undefined
            ? `Send ${whom} the link to this page.`
            : `Create the ${creates}, then send its link to ${whom}.`}
        </span>
      )}
    </p>
  )
}
