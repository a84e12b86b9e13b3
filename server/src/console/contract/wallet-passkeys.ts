import { Type } from 'typebox'
import { isoTime, list } from '../../values/schema-fields.ts'
import { Empty, EmptyBody, name, NameBody } from './fields.ts'
import { ONLY_A_NAME, READS, type ConsoleRoutes, type Shape } from './route.ts'
import { CreationOptions, Registration } from './webauthn.ts'

const WalletPasskeySchema = Type.Object({
  credential_id: Type.String(),
  name: Type.String(),
  created_at: isoTime(),
  /** How many wallets the passkey owns, in all workspaces. */
  wallets: Type.Integer(),
})

export type WalletPasskey = Shape<typeof WalletPasskeySchema>

const CredentialParams = Type.Object({ credential_id: Type.String() })
const walletPasskeyAnswer = Type.Object({ passkey: WalletPasskeySchema })

/** The caller's own wallet passkeys, which the signer page creates. */
export const WALLET_PASSKEY_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/wallet-passkeys',
    config: { needs: 'session', proof: READS, bucket: 'dashboard' },
    schema: { response: { 200: Type.Object({ passkeys: list(WalletPasskeySchema) }) } },
  },
  open: {
    method: 'POST',
    url: '/console/wallet-passkeys/options',
    config: { needs: 'session', proof: 'required', bucket: 'sign_in' },
    schema: { body: EmptyBody, response: { 200: CreationOptions } },
  },
  add: {
    method: 'POST',
    url: '/console/wallet-passkeys',
    config: { needs: 'session', proof: 'required', bucket: 'dashboard' },
    schema: {
      body: Type.Object({ response: Registration, name }),
      response: { 201: walletPasskeyAnswer },
    },
  },
  rename: {
    method: 'PATCH',
    url: '/console/wallet-passkeys/:credential_id',
    config: { needs: 'session', proof: ONLY_A_NAME, bucket: 'dashboard' },
    schema: { params: CredentialParams, body: NameBody, response: { 200: Empty } },
  },
  /** Only a passkey that owns no wallet can be removed. */
  remove: {
    method: 'DELETE',
    url: '/console/wallet-passkeys/:credential_id',
    config: { needs: 'session', proof: 'required', bucket: 'dashboard' },
    schema: { params: CredentialParams, response: { 200: Empty } },
  },
} as const satisfies ConsoleRoutes
