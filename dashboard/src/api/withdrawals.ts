import type { Payment } from '@bursar/server/src/console/contract/payments.ts'
import type { Output } from '@bursar/server/src/console/contract/all-routes.ts'
import type { SignerWindow } from '../signer/signer-window.ts'
import { signRequest, type SignedWallet } from './owners.ts'
import { request } from './request.ts'

/** A withdrawal that waits for the signature of an owner. */
export type WithdrawalRequest = Output<'POST /console/workspaces/:slug/withdrawals'>

export interface Withdrawal {
  readonly to: string
  /** Null withdraws everything that is not reserved by pending payments. */
  readonly amountUsdc: string | null
}

/** Prepares a withdrawal. Nothing happens until an owner of the wallet has signed it. */
export async function prepareWithdrawal(
  { slug, mode, address }: SignedWallet,
  { to, amountUsdc }: Withdrawal,
): Promise<WithdrawalRequest> {
  const input = { params: { slug }, body: { mode, wallet: address, to, amount_usdc: amountUsdc } }
  return await request('POST /console/workspaces/:slug/withdrawals', input)
}

/** Asks an owner to sign a withdrawal in the signer window, and submits it. */
export async function signWithdrawal(
  signer: SignerWindow,
  wallet: SignedWallet,
  prepared: WithdrawalRequest,
): Promise<Payment> {
  const response = await signRequest(signer, prepared.request, wallet)
  const input = { params: { slug: wallet.slug, id: prepared.request_id }, body: { response } }
  return (await request('POST /console/workspaces/:slug/withdrawals/:id/signature', input)).payment
}
