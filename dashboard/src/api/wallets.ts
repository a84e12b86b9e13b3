import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { request } from './request.ts'

interface NewWallet {
  readonly mode: Mode
  readonly name: string
  /** The passkey that will own the wallet. */
  readonly credentialId: string
}

export async function createWallet(slug: string, { mode, name, credentialId }: NewWallet): Promise<Wallet> {
  const input = { params: { slug }, body: { mode, name, credential_id: credentialId } }
  return (await request('POST /console/workspaces/:slug/wallets', input)).wallet
}

/** Requests test USDC for a wallet. Returns the requested amount. */
export async function askFaucet(slug: string, address: string): Promise<string> {
  const input = { params: { slug, address }, body: { mode: 'test' } } as const
  return (await request('POST /console/workspaces/:slug/wallets/:address/faucet', input)).amount_usdc
}
