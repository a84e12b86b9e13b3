import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { formatOwner } from '../../format/owner-text.ts'

/** Says who must sign. Only the passkey that owns the wallet can. */
export function SignatureNote({ owner }: { readonly owner: Wallet['owner'] }) {
  return (
    <p className="text-[0.9375rem] text-muted">
      {owner.is_mine ? (
        <>
          You sign it in the next step with <bdi>{formatOwner(owner)}</bdi>, which owns the wallet.
        </>
      ) : (
        <>
          The wallet is owned by <bdi>{formatOwner(owner)}</bdi>. You can create the grant, but it only takes effect
          once that passkey has signed it.
        </>
      )}
    </p>
  )
}
