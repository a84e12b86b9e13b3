import { Type } from 'typebox'
import { DepositSchema } from '../../domain/deposits/deposit-schema.ts'
import { isoTime, list, nullable } from '../../values/schema-fields.ts'
import {
  ADDRESS_CHARS_MAX,
  id,
  mode,
  ModeBody,
  ModeQuery,
  name,
  next,
  SlugAddressParams,
  SlugParams,
} from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'
import { credentialId } from './webauthn.ts'

const WalletSchema = Type.Object({
  address: Type.String(),
  mode,
  name: Type.String(),
  created_at: isoTime(),
  /** The passkey that owns the wallet, and the person it belongs to. The names are null once that passkey was removed. */
  owner: Type.Object({
    passkey_name: nullable(Type.String()),
    user_name: nullable(Type.String()),
    /** Whether it is a passkey of the caller. */
    is_mine: Type.Boolean(),
  }),
  /** From the chain; null while the chain cannot be reached. */
  balance_usdc: nullable(Type.String()),
  /** What the wallet pays its gas with. Null in lists, and where the gas is sponsored. */
  coin: nullable(
    Type.Object({
      symbol: Type.String(),
      /** In whole coins; null while the chain cannot be reached. */
      balance: nullable(Type.String()),
    }),
  ),
  /** How many grants on it are not revoked. */
  grants: Type.Integer(),
})

const DepositPageSchema = Type.Object({ deposits: list(DepositSchema), next })

export type Wallet = Shape<typeof WalletSchema>
export type Deposit = Shape<typeof DepositSchema>
export type DepositPage = Shape<typeof DepositPageSchema>

const walletAnswer = Type.Object({ wallet: WalletSchema })

export const WALLET_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/wallets',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ wallets: list(WalletSchema) }) },
    },
  },
  create: {
    method: 'POST',
    url: '/console/workspaces/:slug/wallets',
    config: { role: 'admin', proof: 'required', bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      /** `credential_id` is the passkey that will own the wallet. */
      body: Type.Object({ mode, name, credential_id: Type.Optional(credentialId) }),
      response: { 201: walletAnswer },
    },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/wallets/:address',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugAddressParams, querystring: ModeQuery, response: { 200: walletAnswer } },
  },
  /** Sends test USDC to the wallet. */
  requestTestUsdc: {
    method: 'POST',
    url: '/console/workspaces/:slug/wallets/:address/faucet',
    // The handler also counts it per workspace, right before it asks the faucet, so that a bad request costs nothing.
    config: { role: 'admin', proof: { notNeeded: 'only brings money in' }, bucket: 'dashboard' },
    schema: {
      params: SlugAddressParams,
      body: ModeBody,
      response: { 201: Type.Object({ tx_hash: Type.String(), amount_usdc: Type.String() }) },
    },
  },
  /** The newest first. */
  listDeposits: {
    method: 'GET',
    url: '/console/workspaces/:slug/deposits',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({
        mode,
        wallet: Type.Optional(Type.String({ minLength: 1, maxLength: ADDRESS_CHARS_MAX })),
        before: Type.Optional(id),
      }),
      response: { 200: DepositPageSchema },
    },
  },
} as const satisfies ConsoleRoutes
