import { Type } from 'typebox'
import { AUDIT_ACTIONS } from '../../domain/audit/audit-entry.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { id, next, SlugParams } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

/** An entry of the audit log. `former` is true if the person is no longer a member. */
const AuditEntrySchema = Type.Object({
  id: Type.String(),
  at: isoTime(),
  actor: Type.Object({
    kind: Type.Enum(['user', 'key', 'client', 'operator']),
    id: orNull(Type.String()),
    name: orNull(Type.String()),
    former: Type.Boolean(),
  }),
  action: Type.Enum([...AUDIT_ACTIONS]),
  subject: orNull(Type.String()),
  /**
   * The person who was the subject of the action, for example a member who was removed. Null if the subject is not a
   * person.
   */
  subject_user: orNull(Type.Object({ name: Type.String(), former: Type.Boolean() })),
  details: Type.Record(Type.String(), Type.Unknown()),
})

export type AuditEntry = Shape<typeof AuditEntrySchema>

export const AUDIT_ROUTES = {
  /** Lists the entries, the newest first. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/audit',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ before: Type.Optional(id) }),
      response: { 200: Type.Object({ entries: list(AuditEntrySchema), next }) },
    },
  },
} as const satisfies ConsoleRoutes
