import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

export function walletsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'wallets'],
    queryFn: async ({ signal }) => {
      const input = { params: { slug }, query: { mode }, signal }
      return (await request('GET /console/workspaces/:slug/wallets', input)).wallets
    },
  })
}

export function walletQuery(slug: string, mode: Mode, address: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'wallets', address],
    queryFn: async ({ signal }) => {
      const input = { params: { slug, address }, query: { mode }, signal }
      return (await request('GET /console/workspaces/:slug/wallets/:address', input)).wallet
    },
  })
}

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
