import type { WalletPasskey } from '@bursar/server/src/console/contract/wallet-passkeys.ts'
import type { SignerWindow } from '../signer/signer-window.ts'
import { request } from './request.ts'

/** Creates a wallet passkey on the signer page, and stores its public key. */
export async function createWalletPasskey(signer: SignerWindow, name: string): Promise<WalletPasskey> {
  const { options } = await request('POST /console/wallet-passkeys/options', { body: {} })
  const response = await signer.create({ options, claims: {} })
  return (await request('POST /console/wallet-passkeys', { body: { response, name } })).passkey
}

export async function renameWalletPasskey(credentialId: string, name: string): Promise<void> {
  const input = { params: { credential_id: credentialId }, body: { name } }
  await request('PATCH /console/wallet-passkeys/:credential_id', input)
}

/** Removes a wallet passkey. The server rejects this if the passkey owns a wallet. */
export async function removeUnusedWalletPasskey(credentialId: string): Promise<void> {
  await request('DELETE /console/wallet-passkeys/:credential_id', { params: { credential_id: credentialId } })
}
