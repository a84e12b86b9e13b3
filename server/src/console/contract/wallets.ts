import { Type } from 'typebox'
import { DepositSchema } from '../../domain/deposits/deposit-schema.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import {
  ADDRESS_CHARS_MAX,
  Empty,
  id,
  mode,
  ModeBody,
  ModeQuery,
  name,
  next,
  SlugAddressParams,
  SlugParams,
} from './fields.ts'
import { ONLY_A_NAME, READS, type ConsoleRoutes, type Shape } from './route.ts'
import { credentialId } from './webauthn.ts'

const OwnerSchema = Type.Object({
  credential_id: Type.String(),
  name: Type.String(),
  user_name: Type.String(),
  /** Whether the owner is a member of the workspace. */
  is_member: Type.Boolean(),
  /** Whether the passkey belongs to the caller. */
  is_mine: Type.Boolean(),
  /** Whether the owner has signed the record of the wallet. Until then, the signer page signs nothing for the owner. */
  has_record: Type.Boolean(),
  added_at: isoTime(),
})

const WalletSchema = Type.Object({
  address: Type.String(),
  mode,
  name: Type.String(),
  created_at: isoTime(),
  /** All owners, in the order in which they were added. */
  owners: list(OwnerSchema),
  /** Whether one lost passkey would lose the money: a live wallet with one owner (D61). */
  is_at_risk: Type.Boolean(),
  /** From the chain; null while the chain cannot be reached. */
  balance_usdc: orNull(Type.String()),
  /** The native coin with which the wallet pays its gas. Null in lists, and if the gas is sponsored. */
  coin: orNull(
    Type.Object({
      symbol: Type.String(),
      /** The balance in units of the native coin, such as `0.15` ETH; null while the chain cannot be reached. */
      balance: orNull(Type.String()),
    }),
  ),
  /** How many grants of this wallet are not revoked. */
  grants: Type.Integer(),
})

const DepositPageSchema = Type.Object({ deposits: list(DepositSchema), next })

export type Wallet = Shape<typeof WalletSchema>
export type WalletOwner = Shape<typeof OwnerSchema>
export type Deposit = Shape<typeof DepositSchema>
export type DepositPage = Shape<typeof DepositPageSchema>

export const walletAnswer = Type.Object({ wallet: WalletSchema })

export const WALLET_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/wallets',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ wallets: list(WalletSchema) }) },
    },
  },
  create: {
    method: 'POST',
    url: '/console/workspaces/:slug/wallets',
    config: { needs: 'manageWallets', proof: 'required', bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      /** `credential_id` is the caller's wallet passkey that will own the wallet. */
      body: Type.Object({ mode, name, credential_id: credentialId }),
      response: { 201: walletAnswer },
    },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/wallets/:address',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugAddressParams, querystring: ModeQuery, response: { 200: walletAnswer } },
  },
  rename: {
    method: 'PATCH',
    url: '/console/workspaces/:slug/wallets/:address',
    config: { needs: 'manageWallets', proof: ONLY_A_NAME, bucket: 'dashboard' },
    schema: { params: SlugAddressParams, body: Type.Object({ mode, name }), response: { 200: Empty } },
  },
  /** Sends test USDC to the wallet. */
  requestTestUsdc: {
    method: 'POST',
    url: '/console/workspaces/:slug/wallets/:address/faucet',
    // The handler also counts the request against a limit per workspace. It does so right before it calls the faucet,
    // so that an invalid request is not counted.
    config: { needs: 'manageWallets', proof: { notNeeded: 'only brings money in' }, bucket: 'dashboard' },
    schema: {
      params: SlugAddressParams,
      body: ModeBody,
      response: { 201: Type.Object({ tx_hash: Type.String(), amount_usdc: Type.String() }) },
    },
  },
  /** Lists the deposits, the newest first. */
  listDeposits: {
    method: 'GET',
    url: '/console/workspaces/:slug/deposits',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
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
