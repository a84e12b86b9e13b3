import { Type } from 'typebox'
import { ACTOR_KINDS, AUDIT_ACTIONS } from '../../domain/audit/audit-entry.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { id, mode, next, SlugParams, time, timeZone } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

/** A named object or person. `former` is true for a person who is no longer a member. */
const NamedSchema = Type.Object({ name: Type.String(), former: Type.Boolean() })

/**
 * An entry of the audit log. All names are those of now. A name is null if the object has none, or was deleted. The
 * details are as they were recorded.
 */
const AuditEntrySchema = Type.Object({
  id: Type.String(),
  at: isoTime(),
  /** The mode of what was changed. Null if it belongs to both modes. */
  mode: orNull(mode),
  actor: Type.Object({ kind: Type.Enum([...ACTOR_KINDS]), id: orNull(Type.String()), known: orNull(NamedSchema) }),
  action: Type.Enum([...AUDIT_ACTIONS]),
  subject: orNull(Type.String()),
  /** The person or the object that was changed. */
  known_subject: orNull(NamedSchema),
  details: Type.Record(Type.String(), Type.Unknown()),
  /** The names of the details that are ids. */
  known_details: Type.Record(Type.String(), NamedSchema),
})

export type AuditEntry = Shape<typeof AuditEntrySchema>

const ACTION_CHARS_MAX = 64

const FilterSchema = Type.Object({
  /** The id of a user, an API key or a client, or a kind of actor. */
  actor: Type.Optional(id),
  /** An action, or its first part, such as `grant`. */
  action: Type.Optional(Type.String({ maxLength: ACTION_CHARS_MAX })),
  /** Entries made at this time or later, and before `to`. */
  from: Type.Optional(time),
  to: Type.Optional(time),
})

export type AuditFilter = Shape<typeof FilterSchema>

export const AUDIT_ROUTES = {
  /** Lists the entries, the newest first. A page may be empty and still have a `next`. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/audit',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ ...FilterSchema.properties, before: Type.Optional(id) }),
      response: { 200: Type.Object({ entries: list(AuditEntrySchema), next }) },
    },
  },
  /** Returns the entries that the list with this filter has, the newest first, as a stream of CSV. */
  export: {
    method: 'GET',
    url: '/console/workspaces/:slug/audit/export',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ ...FilterSchema.properties, time_zone: Type.Optional(timeZone) }),
    },
  },
} as const satisfies ConsoleRoutes
