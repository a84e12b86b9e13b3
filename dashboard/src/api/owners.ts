import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { SigningRequest } from '@bursar/server/src/console/contract/grants.ts'
import type { WalletRecord } from '@bursar/server/src/console/contract/owners.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import type { AuthenticationResponseJSON } from '@simplewebauthn/browser'
import type { Claims } from '../signer/signer-messages.ts'
import type { SignerWindow } from '../signer/signer-window.ts'
import { request } from './request.ts'

/** A wallet, and what the dashboard sends to the signer page about it. */
export interface SignedWallet {
  readonly slug: string
  readonly mode: Mode
  readonly address: string
  readonly claims: Claims
}

/** Asks an owner of a wallet to sign a request in the signer window. Returns the signature. */
export async function signRequest(
  signer: SignerWindow,
  { payload, credentials, before }: SigningRequest,
  wallet: SignedWallet,
): Promise<AuthenticationResponseJSON> {
  const record = await getRecord(wallet)
  return await signer.sign({
    payload,
    credentials: credentials.map(({ id, public_key: publicKey, name }) => ({ id, publicKey, name })),
    record: { statement: record.statement, assertions: record.assertions },
    claims: { ...wallet.claims, keyNames: listKeyNames(record), before },
  })
}

/**
 * Asks for the owner's signature of the wallet's record, in the signer window. The signer page then knows what belongs
 * to the wallet. Without this signature, the page lets this passkey sign nothing else.
 */
export async function signRecord(signer: SignerWindow, wallet: SignedWallet, credentialId: string): Promise<Wallet> {
  const { slug, mode, address } = wallet
  const record = await getRecord(wallet)
  const assertion = await signer.sign({
    payload: record.statement,
    credentials: record.public_keys
      .filter(({ credential_id }) => credential_id === credentialId)
      .map(({ credential_id: id, public_key: publicKey, name }) => ({ id, publicKey, name })),
    record: null,
    claims: { ...wallet.claims, keyNames: listKeyNames(record) },
  })
  const input = { params: { slug, address }, body: { mode, assertion } }
  return (await request('POST /console/workspaces/:slug/wallets/:address/record', input)).wallet
}

/** Adds an owner to a wallet or removes one. Another owner signs the change in the signer window. */
export async function changeOwner(
  signer: SignerWindow,
  wallet: SignedWallet,
  { change, credentialId }: { readonly change: 'add' | 'remove'; readonly credentialId: string },
): Promise<void> {
  const { slug, mode, address } = wallet
  const opened = await request('POST /console/workspaces/:slug/wallets/:address/owner-requests', {
    params: { slug, address },
    body: { mode, change, credential_id: credentialId },
  })
  if (opened.request_id === null || opened.request === null) return
  const assertion = await signRequest(signer, opened.request, wallet)
  const input = { params: { slug, id: opened.request_id }, body: { assertion } }
  await request('POST /console/workspaces/:slug/owner-requests/:id/signature', input)
}

async function getRecord({ slug, mode, address }: SignedWallet): Promise<WalletRecord> {
  const input = { params: { slug, address }, query: { mode } }
  return await request('GET /console/workspaces/:slug/wallets/:address/record', input)
}

function listKeyNames({ public_keys }: WalletRecord): Readonly<Record<string, string>> {
  return Object.fromEntries(public_keys.map(({ public_key, name }) => [public_key, name]))
}
