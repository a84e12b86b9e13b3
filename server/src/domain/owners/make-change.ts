import type { Context } from '../context.ts'
import { problem } from '../../values/problem.ts'
import type { OwnerRequest } from '../wallets/owner-request.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { EnclaveChange } from './enclave-change.ts'
import { makeOwnersChange } from './make-owners-change.ts'
import { makeWalletMove } from './make-wallet-move.ts'

/** Returns the change that a request asks for. Throws 404 for a withdrawal, which is no change of owners. */
export function makeChange(
  ctx: Pick<Context, 'db' | 'enclave'>,
  { wallet, request }: { wallet: Wallet; request: OwnerRequest },
): EnclaveChange {
  switch (request.kind) {
    case 'add_owner':
    case 'remove_owner':
      return makeOwnersChange(ctx, { wallet, request })
    case 'move':
      return makeWalletMove(ctx, { wallet, request })
    case 'withdraw':
      throw problem('owner_request_not_found')
  }
}
