import { Type } from 'typebox'
import { SIGNED_TERMS_STATES } from '../../domain/grants/signed-terms-state.ts'
import { GRANT_STATES } from '../../domain/grants/grant-state.ts'
import { GrantSchema as PublicGrantSchema } from '../../domain/grants/grant-schema.ts'
import { GRANT_CHANGES, GRANT_RECIPIENTS_MAX } from '../../domain/grants/grant.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { ADDRESS_CHARS_MAX, agentId, EmptyBody, mode, SlugIdParams, SlugParams, time } from './fields.ts'
import { ENDS_POWER, READS, type ConsoleRoutes, type Shape } from './route.ts'
import { OwnerAuthenticationBody } from './webauthn.ts'

const AMOUNT_CHARS_MAX = 100
const amount = Type.String({ maxLength: AMOUNT_CHARS_MAX })
const address = Type.String({ maxLength: ADDRESS_CHARS_MAX })

/**
 * The grant's status as people see it. It is more specific than the stored status, because an active grant may be
 * suspended or expired.
 */
export const grantState = Type.Enum([...GRANT_STATES])

/** The same fields as a grant in events, and further fields for the dashboard. */
export const GrantSchema = Type.Object({
  ...PublicGrantSchema.properties,
  mode,
  wallet_name: Type.String(),
  state: grantState,
  /**
   * What the agent spent from the wallet in the last 24 hours, under all of its grants together. Null if the grant is
   * revoked.
   */
  spent_24h_usdc: orNull(Type.String()),
  remaining_24h_usdc: orNull(Type.String()),
  /** The grant that this grant replaces as soon as the owner signs it. */
  replaces: orNull(Type.String()),
  /** The grant that has replaced this grant. */
  replaced_by: orNull(Type.String()),
  /** Who submitted the owner's signature. Null if nobody has submitted it yet, or if the operator did. */
  activated_by: orNull(Type.String()),
  /** Whether a passkey of the caller owns the wallet. */
  is_mine_to_sign: Type.Boolean(),
  /** The names of the other members who can sign a pending grant. Empty for other grants. */
  other_signers: list(Type.String()),
  /** Who prepared the grant. Null if the operator did, or if it was prepared before this was recorded. */
  created_by: orNull(Type.String()),
  /** Whether the person who prepared the grant is no longer a member. */
  by_former_member: Type.Boolean(),
})

/** The rules of a slot, in the enclave's own form. */
const RulesSchema = Type.Array(Type.Unknown())

/** What an owner signs on the signer page. */
export const SigningRequestSchema = Type.Object({
  /** base64url of the exact request to the enclave, in canonical JSON. It is the WebAuthn challenge. */
  payload: Type.String(),
  expires_at: isoTime(),
  /** The wallet passkeys that may sign the request. `public_key` is base64 of its SPKI. */
  credentials: list(Type.Object({ id: Type.String(), public_key: Type.String(), name: Type.String() })),
  /** The rules that the request replaces; null if it changes no rules. */
  before: orNull(RulesSchema),
})

const terms = {
  max_per_tx_usdc: amount,
  daily_cap_usdc: amount,
  /** Required. An empty list allows every recipient, so this must be an explicit choice. */
  recipient_allowlist: Type.Immutable(Type.Array(address, { maxItems: GRANT_RECIPIENTS_MAX })),
  /** Required. Null means that the grant never expires, so this must be an explicit choice. */
  expires_at: orNull(time),
  /** Whether the grant allows purchases. If missing, it does not. */
  x402: Type.Optional(Type.Boolean()),
}
const TermsBody = Type.Object(terms)

export type Grant = Shape<typeof GrantSchema>
export type GrantState = Grant['state']
export type GrantTerms = Shape<typeof TermsBody>
export type SigningRequest = Shape<typeof SigningRequestSchema>

/** What the enclave's record says about the terms of an active grant. */
const SignedTermsSchema = Type.Object({
  /** Whether the enclave has exactly the terms that the dashboard shows, so that an owner has signed them. */
  state: Type.Enum([...SIGNED_TERMS_STATES]),
  /** The 24-hour limit that the owner signed. Null if the signature covers no such limit. */
  daily_cap_usdc: orNull(Type.String()),
})

const grantAnswer = Type.Object({ grant: GrantSchema })
const THE_OWNER_SIGNS = { notNeeded: 'has no effect before the owner’s passkey signs' } as const

export const GRANT_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/grants',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode, agent: Type.Optional(agentId), wallet: Type.Optional(address) }),
      response: { 200: Type.Object({ grants: list(GrantSchema) }) },
    },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/grants/:id',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, response: { 200: grantAnswer } },
  },
  /** Reads the enclave's record of an active grant, and compares it with the terms in the database. */
  getSignedTerms: {
    method: 'GET',
    url: '/console/workspaces/:slug/grants/:id/signed-terms',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, response: { 200: Type.Object({ signed_terms: SignedTermsSchema }) } },
  },
  open: {
    method: 'POST',
    url: '/console/workspaces/:slug/grants',
    config: { needs: 'manageGrants', proof: THE_OWNER_SIGNS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      body: Type.Object({ mode, agent_id: agentId, wallet: address, ...terms }),
      response: { 201: grantAnswer },
    },
  },
  openReplacement: {
    method: 'POST',
    url: '/console/workspaces/:slug/grants/:id/replacement',
    config: { needs: 'manageGrants', proof: THE_OWNER_SIGNS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: TermsBody, response: { 201: grantAnswer } },
  },
  /**
   * Returns what the owner must sign to activate, revoke or resume the grant. `signing_request` is null if no signature
   * is needed. For example, a pending grant is revoked at once.
   */
  issueSigningRequest: {
    method: 'POST',
    url: '/console/workspaces/:slug/grants/:id/signing-request',
    config: { needs: 'manageGrants', proof: THE_OWNER_SIGNS, bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      body: Type.Object({ change: Type.Enum([...GRANT_CHANGES]) }),
      response: { 200: Type.Object({ grant: GrantSchema, signing_request: orNull(SigningRequestSchema) }) },
    },
  },
  submitSignature: {
    method: 'POST',
    url: '/console/workspaces/:slug/grants/:id/signature',
    config: {
      needs: 'manageGrants',
      proof: { notNeeded: 'is the signature of the owner’s passkey over the grant itself' },
      bucket: 'dashboard',
    },
    schema: { params: SlugIdParams, body: OwnerAuthenticationBody, response: { 200: grantAnswer } },
  },
  suspend: {
    method: 'POST',
    url: '/console/workspaces/:slug/grants/:id/suspend',
    config: { needs: 'manageGrants', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: EmptyBody, response: { 200: grantAnswer } },
  },
} as const satisfies ConsoleRoutes
