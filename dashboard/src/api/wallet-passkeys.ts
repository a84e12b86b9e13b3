import type { WalletPasskey } from '@bursar/server/src/console/contract/wallet-passkeys.ts'
import type { SignerWindow } from '../signer/signer-window.ts'
import { request } from './request.ts'

/** Creates a wallet passkey on the signer page, and stores its public key. */
export async function createWalletPasskey(signer: SignerWindow, name: string): Promise<WalletPasskey> {
  const { options } = await request('POST /console/wallet-passkeys/options', { body: {} })
  const response = await signer.create({ options, claims: {} })
  return (await request('POST /console/wallet-passkeys', { body: { response, name } })).passkey
}
