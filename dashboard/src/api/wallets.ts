import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { Wallet } from './wire-spending.ts'
import { workspacePath } from './workspaces.ts'

export function walletsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'wallets'],
    queryFn: async ({ signal }) =>
      (
        await request<{ wallets: readonly Wallet[] }>('GET', `${workspacePath(slug, 'wallets')}?mode=${mode}`, {
          signal,
        })
      ).wallets,
  })
}

export function walletQuery(slug: string, mode: Mode, address: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'wallets', address],
    queryFn: async ({ signal }) => {
      const path = `${workspacePath(slug, 'wallets', address)}?mode=${mode}`
      return (await request<{ wallet: Wallet }>('GET', path, { signal })).wallet
    },
  })
}

interface NewWallet {
  readonly mode: Mode
  readonly name: string
  /** The passkey that is to own it. */
  readonly credentialId: string
}

export async function createWallet(slug: string, { mode, name, credentialId }: NewWallet): Promise<Wallet> {
  const body = { mode, name, credential_id: credentialId }
  return (await request<{ wallet: Wallet }>('POST', workspacePath(slug, 'wallets'), { body })).wallet
}

/** Asks for test USDC; answers how much is on its way. */
export async function askFaucet(slug: string, address: string): Promise<string> {
  const path = workspacePath(slug, 'wallets', address, 'faucet')
  return (await request<{ amount_usdc: string }>('POST', path, { body: { mode: 'test' } })).amount_usdc
}
