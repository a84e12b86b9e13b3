import type { Wallet } from '../../api/wire-spending.ts'
import { sayOwner } from '../../format/owner-text.ts'

/** Who is to sign: only the passkey that owns the wallet can. */
export function SignerNote({ owner }: { readonly owner: Wallet['owner'] }) {
  return (
    <p className="text-[0.9375rem] text-muted">
      {owner.is_mine ? (
        <>
          Next you sign it with <bdi>{sayOwner(owner)}</bdi>, which owns the wallet.
        </>
      ) : (
        <>
          The wallet is owned by <bdi>{sayOwner(owner)}</bdi>. You can prepare the grant; it allows nothing until it is
          signed there.
        </>
      )}
    </p>
  )
}
