import type { Wallet } from '../../api/wire-spending.ts'
import { formatOwner } from '../../format/owner-text.ts'

/** Who is to sign: only the passkey that owns the wallet can. */
export function SignatureNote({ owner }: { readonly owner: Wallet['owner'] }) {
  return (
    <p className="text-[0.9375rem] text-muted">
      {owner.is_mine ? (
        <>
          Next you sign it with <bdi>{formatOwner(owner)}</bdi>, which owns the wallet.
        </>
      ) : (
        <>
          The wallet is owned by <bdi>{formatOwner(owner)}</bdi>. You can prepare the grant; it allows nothing until it
          is signed there.
        </>
      )}
    </p>
  )
}
