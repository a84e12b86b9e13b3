import { Type } from 'typebox'
import { orNull } from '../../values/schema-fields.ts'
import { ADDRESS_CHARS_MAX, mode, SlugIdParams, SlugParams } from './fields.ts'
import { SigningRequestSchema } from './grants.ts'
import { PaymentSchema } from './payments.ts'
import type { ConsoleRoutes } from './route.ts'
import { AuthenticationBody } from './webauthn.ts'

const AMOUNT_CHARS_MAX = 100
const address = Type.String({ minLength: 1, maxLength: ADDRESS_CHARS_MAX })

export const WITHDRAWAL_ROUTES = {
  /** Prepares a withdrawal, which an owner of the wallet then signs on the signer page. */
  issueRequest: {
    method: 'POST',
    url: '/console/workspaces/:slug/withdrawals',
    config: {
      needs: 'withdraw',
      proof: { notNeeded: 'has no effect before the owner’s passkey signs' },
      bucket: 'dashboard',
    },
    schema: {
      params: SlugParams,
      body: Type.Object({
        mode,
        wallet: address,
        to: address,
        /** Null withdraws everything that other payments have not reserved, so a missing amount is an error. */
        amount_usdc: orNull(Type.String({ maxLength: AMOUNT_CHARS_MAX })),
      }),
      response: {
        201: Type.Object({
          /** The `id` under which the signature is submitted. */
          request_id: Type.String(),
          request: SigningRequestSchema,
          amount_usdc: Type.String(),
          balance_usdc: Type.String(),
          /** What the wallet's pending payments have reserved of the balance. */
          pending_usdc: Type.String(),
        }),
      },
    },
  },
  /** Submitting the same request again returns the same payment, and sends nothing. */
  submitSignature: {
    method: 'POST',
    url: '/console/workspaces/:slug/withdrawals/:id/signature',
    config: {
      needs: 'withdraw',
      proof: { notNeeded: 'is the signature of the owner’s passkey over the transfer itself' },
      bucket: 'dashboard',
    },
    schema: {
      params: SlugIdParams,
      body: AuthenticationBody,
      response: { 200: Type.Object({ payment: PaymentSchema }) },
    },
  },
} as const satisfies ConsoleRoutes
