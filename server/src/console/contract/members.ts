import { Type } from 'typebox'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { id, mode, role, SlugParams } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const MemberSchema = Type.Object({
  user_id: Type.String(),
  name: Type.String(),
  role,
  created_at: isoTime(),
})

export type Member = Shape<typeof MemberSchema>

/** An API key that a member made, as far as people need it to recognize the key. */
const MadeKeySchema = Type.Object({
  id: Type.String(),
  mode,
  name: Type.String(),
  /** The only agent as which the key may pay. Null if it may pay as every agent. */
  agent_id: orNull(Type.String()),
  /** The last four characters of the secret. */
  last4: Type.String(),
})

export type MadeKey = Shape<typeof MadeKeySchema>

/** The names of the other people who can sign: owners of the wallet who are owners or admins of the workspace. */
const otherSigners = list(Type.String())

/** What became of the member's API keys. Both lists are empty if the member loses no keys. */
const KeysLeftBehindSchema = Type.Object({ keys_revoked: list(MadeKeySchema), keys_kept: list(MadeKeySchema) })

export type KeysLeftBehind = Shape<typeof KeysLeftBehindSchema>

/** What stops working when the member leaves the workspace or becomes a viewer (D88), and what they leave to others. */
const BelongingsSchema = Type.Object({
  /** The API keys of both modes that the member made. */
  keys: list(Type.Object({ ...MadeKeySchema.properties, created_at: isoTime(), last_used_at: orNull(isoTime()) })),
  /** The applications that the member connected, in both modes. */
  connections: list(Type.Object({ id: Type.String(), mode, client_name: Type.String(), agent_id: Type.String() })),
  /** The open invitations that the member created. They are revoked. */
  invitations: list(Type.Object({ id: Type.String(), role, expires_at: isoTime() })),
  /** The wallets of both modes that the member owns. Their passkeys stay owners. */
  wallets: list(
    Type.Object({
      mode,
      address: Type.String(),
      name: Type.String(),
      /** The names of the member's passkeys that own the wallet. */
      passkeys: list(Type.String()),
      other_signers: otherSigners,
    }),
  ),
  /** The grants of both modes that wait for a signature, and that the member prepared or can sign. They stay. */
  grants: list(
    Type.Object({
      id: Type.String(),
      mode,
      agent_id: Type.String(),
      wallet_name: Type.String(),
      /** Whether the member prepared it. If not, the member owns its wallet. */
      is_prepared: Type.Boolean(),
      other_signers: otherSigners,
    }),
  ),
})

export type Belongings = Shape<typeof BelongingsSchema>

/** A workspace has at most 50 working keys that people made in each mode. The operator may make more. */
const KEPT_KEYS_MAX = 200
const KEY_ID_CHARS_MAX = 31
/** The ids of API keys that keep working although their maker leaves or becomes a viewer. */
const keepKeys = Type.Array(id, { maxItems: KEPT_KEYS_MAX, uniqueItems: true })

/** The same ids, separated by commas. They are in the query, because proxies may drop the body of a DELETE request. */
const keptKeysText = Type.String({ maxLength: KEPT_KEYS_MAX * KEY_ID_CHARS_MAX })

const UserParams = Type.Object({ slug: Type.String(), user_id: Type.String() })

export const MEMBER_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/members',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, response: { 200: Type.Object({ members: list(MemberSchema) }) } },
  },
  /** What stops working when the member leaves the workspace or becomes a viewer, and what they leave to others. */
  listBelongings: {
    method: 'GET',
    url: '/console/workspaces/:slug/members/:user_id/belongings',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: UserParams, response: { 200: BelongingsSchema } },
  },
  changeRole: {
    method: 'PATCH',
    url: '/console/workspaces/:slug/members/:user_id',
    // Requires a passkey proof if the person's old or new role is owner or admin.
    config: { needs: 'manageMembers', proof: 'conditional', bucket: 'dashboard' },
    schema: {
      params: UserParams,
      body: Type.Object({ role, keep_keys: Type.Optional(keepKeys) }),
      response: { 200: KeysLeftBehindSchema },
    },
  },
  remove: {
    method: 'DELETE',
    url: '/console/workspaces/:slug/members/:user_id',
    // Removing somebody else needs `manageMembers`. Removing an owner or admin requires a passkey proof.
    config: { needs: 'leave', proof: 'conditional', bucket: 'dashboard' },
    schema: {
      params: UserParams,
      querystring: Type.Object({ keep_keys: Type.Optional(keptKeysText) }),
      response: { 200: KeysLeftBehindSchema },
    },
  },
} as const satisfies ConsoleRoutes
