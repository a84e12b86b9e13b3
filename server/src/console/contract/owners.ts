import { Type } from 'typebox'
import { list, orNull } from '../../values/schema-fields.ts'
import { SigningRequestSchema } from './grants.ts'
import { mode, ModeQuery, SlugAddressParams, SlugIdParams } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'
import { walletAnswer } from './wallets.ts'
import { credentialId, OwnerAuthentication } from './webauthn.ts'

const THE_OWNER_SIGNS = { notNeeded: 'has no effect before an owner’s passkey signs' } as const
const IS_SIGNED = { notNeeded: 'is the signature of an owner’s passkey over the change itself' } as const

/** The record of a wallet, in the form that the signer page expects, and the keys of the wallet's owners. */
const RecordSchema = Type.Object({
  /** base64url of the canonical JSON that the owners sign. */
  statement: Type.String(),
  assertions: list(
    Type.Object({
      credentialId: Type.String(),
      authenticatorData: Type.String(),
      clientDataJSON: Type.String(),
      signature: Type.String(),
    }),
  ),
  /** All owners. The public key is base64 SPKI DER. */
  public_keys: list(Type.Object({ credential_id: Type.String(), public_key: Type.String(), name: Type.String() })),
})

export type WalletRecord = Shape<typeof RecordSchema>

const SignatureBody = Type.Object({ assertion: OwnerAuthentication })

/** The endpoints for a wallet's record, and for adding and removing its owners. An owner signs each such change. */
export const OWNER_ROUTES = {
  getRecord: {
    method: 'GET',
    url: '/console/workspaces/:slug/wallets/:address/record',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugAddressParams, querystring: ModeQuery, response: { 200: RecordSchema } },
  },
  signRecord: {
    method: 'POST',
    url: '/console/workspaces/:slug/wallets/:address/record',
    config: { needs: 'manageWallets', proof: IS_SIGNED, bucket: 'dashboard' },
    schema: {
      params: SlugAddressParams,
      body: Type.Object({ mode, assertion: OwnerAuthentication }),
      response: { 200: walletAnswer },
    },
  },
  /** Prepares the request that adds a wallet passkey of the caller to the owners, or removes an owner. */
  openChange: {
    method: 'POST',
    url: '/console/workspaces/:slug/wallets/:address/owner-requests',
    config: { needs: 'manageWallets', proof: THE_OWNER_SIGNS, bucket: 'dashboard' },
    schema: {
      params: SlugAddressParams,
      body: Type.Object({ mode, change: Type.Enum(['add', 'remove']), credential_id: credentialId }),
      /**
       * Both members are null if the enclave has made this change already. Then the change is recorded, and nothing has
       * to be signed.
       */
      response: {
        200: Type.Object({ request_id: orNull(Type.String()), request: orNull(SigningRequestSchema) }),
      },
    },
  },
  submitSignature: {
    method: 'POST',
    url: '/console/workspaces/:slug/owner-requests/:id/signature',
    config: { needs: 'manageWallets', proof: IS_SIGNED, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: SignatureBody, response: { 200: walletAnswer } },
  },
} as const satisfies ConsoleRoutes
