import { Type } from 'typebox'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { Empty, EmptyBody, name, NameBody, secret } from './fields.ts'
import { ENDS_POWER, ONLY_A_NAME, READS, type ConsoleRoutes, type Shape } from './route.ts'
import { AuthenticationBody, CreationOptions, RegistrationBody, RequestOptions } from './webauthn.ts'
import { WorkspaceSchema } from './workspaces.ts'

/** The endpoints for signing up, signing in, passkey proofs and signing out. */

const SessionSchema = Type.Object({
  user: Type.Object({ id: Type.String(), name: Type.String() }),
  workspaces: list(
    Type.Object({
      ...WorkspaceSchema.properties,
      /** Whether API keys of the workspace wait for an owner to confirm them after a restore. */
      has_held_keys: Type.Boolean(),
    }),
  ),
  passkeys: Type.Integer(),
  recovery_codes_left: Type.Integer(),
  /** Whether the person proved their presence by passkey in the last ten minutes. */
  verified: Type.Boolean(),
  expires_at: isoTime(),
  /** The origin of the signer page, where owners use their wallet passkeys (D60). Null if the operator has set none. */
  signer_url: orNull(Type.String()),
})

export type Session = Shape<typeof SessionSchema>
/** A workspace of the signed-in person. */
export type SessionWorkspace = Session['workspaces'][number]

const recoveryCodes = list(Type.String())
const signedIn = { 200: Type.Object({ session: SessionSchema }) } as const
const BEGINS_A_CEREMONY = { notNeeded: 'begins a ceremony' } as const
const IS_THE_PROOF = { notNeeded: 'is a passkey’s own proof' } as const

export const SESSION_ROUTES = {
  /**
   * Returns the current session, or null if nobody is signed in. `sign_up` says who may sign up, for the sign-up page.
   */
  find: {
    method: 'GET',
    url: '/console/session',
    config: { needs: 'nothing', proof: READS, bucket: 'dashboard' },
    schema: {
      response: { 200: Type.Object({ session: orNull(SessionSchema), sign_up: Type.Enum(['open', 'invited']) }) },
    },
  },
  /** Changes the caller's own name. */
  rename: {
    method: 'PATCH',
    url: '/console/user',
    config: { needs: 'session', proof: ONLY_A_NAME, bucket: 'dashboard' },
    schema: { body: NameBody, response: { 200: Empty } },
  },
  openSignUp: {
    method: 'POST',
    url: '/console/sign-up/options',
    // Each sign-up creates a user, so its rate limit is low.
    config: { needs: 'nothing', proof: BEGINS_A_CEREMONY, bucket: 'sign_up' },
    schema: {
      /** `invitation` is the secret of an invitation. It is required if only invited people may sign up. */
      body: Type.Object({ name, invitation: Type.Optional(secret) }),
      response: { 200: CreationOptions },
    },
  },
  signUp: {
    method: 'POST',
    url: '/console/sign-up',
    config: { needs: 'nothing', proof: IS_THE_PROOF, bucket: 'dashboard' },
    schema: {
      body: RegistrationBody,
      response: { 201: Type.Object({ session: SessionSchema, recovery_codes: recoveryCodes }) },
    },
  },
  openSignIn: {
    method: 'POST',
    url: '/console/sign-in/options',
    config: { needs: 'nothing', proof: BEGINS_A_CEREMONY, bucket: 'sign_in' },
    schema: { body: EmptyBody, response: { 200: RequestOptions } },
  },
  signIn: {
    method: 'POST',
    url: '/console/sign-in',
    config: { needs: 'nothing', proof: IS_THE_PROOF, bucket: 'dashboard' },
    schema: { body: AuthenticationBody, response: signedIn },
  },
  signInWithRecoveryCode: {
    method: 'POST',
    url: '/console/recovery',
    config: { needs: 'nothing', proof: { notNeeded: 'uses up a recovery code' }, bucket: 'sign_in' },
    schema: { body: Type.Object({ code: secret }), response: signedIn },
  },
  /** Generates ten new recovery codes. The earlier codes stop working. */
  issueRecoveryCodes: {
    method: 'POST',
    url: '/console/recovery-codes',
    config: { needs: 'session', proof: 'required', bucket: 'dashboard' },
    schema: { body: EmptyBody, response: { 201: Type.Object({ recovery_codes: recoveryCodes }) } },
  },
  openVerification: {
    method: 'POST',
    url: '/console/verification/options',
    config: { needs: 'session', proof: { notNeeded: 'begins the proof itself' }, bucket: 'sign_in' },
    schema: { body: EmptyBody, response: { 200: RequestOptions } },
  },
  verify: {
    method: 'POST',
    url: '/console/verification',
    config: { needs: 'session', proof: { notNeeded: 'is the proof itself' }, bucket: 'dashboard' },
    schema: { body: AuthenticationBody, response: signedIn },
  },
  signOut: {
    method: 'POST',
    url: '/console/sign-out',
    config: { needs: 'nothing', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { body: EmptyBody, response: { 200: Empty } },
  },
  signOutElsewhere: {
    method: 'POST',
    url: '/console/sign-out-elsewhere',
    config: { needs: 'session', proof: ENDS_POWER, bucket: 'dashboard' },
    /** `ended` is how many sessions this request has ended. */
    schema: { body: EmptyBody, response: { 200: Type.Object({ ended: Type.Integer() }) } },
  },
} as const satisfies ConsoleRoutes
