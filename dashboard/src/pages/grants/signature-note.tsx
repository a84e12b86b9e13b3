import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { formatOwners, canSign } from '../../format/owner-text.ts'
import { CannotSignText } from './cannot-sign-text.tsx'

interface SignatureNoteProps {
  readonly wallet: Wallet
  /** What the form creates. */
  readonly creates: 'grant' | 'replacement'
}

/** Says who must sign. Only passkeys that own the wallet can sign. */
export function SignatureNote({ wallet, creates }: SignatureNoteProps) {
  return (
    <div className="text-[0.9375rem] text-muted">
      {canSign(wallet) ? (
        <p>
          You sign it in the next step with{' '}
          <bdi>
            {formatOwners(
              wallet.owners.filter(({ is_mine }) => is_mine),
              'or',
            )}
          </bdi>
          .
        </p>
      ) : (
        <CannotSignText wallet={wallet} creates={creates} />
      )}
    </div>
  )
}
