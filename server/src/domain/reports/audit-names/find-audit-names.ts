import type { AuditEntry, AuditNoun } from '../../audit/audit-entry.ts'
import type { Context } from '../../context.ts'
import { listKnownPeople } from '../../members/queries.ts'
import { listAuditNames, type NamedKind } from './audit-names-store.ts'

/** What an id in an audit entry refers to. */
export interface Reference {
  readonly kind: NamedKind | 'user'
  readonly id: string
}

/** The current name of an object that an audit entry refers to. */
export interface AuditName {
  readonly name: string
  /** Whether it is a person who is no longer a member. */
  readonly former: boolean
  readonly mode: 'test' | 'live' | null
}

/** The kind of object that the subject of an entry is, by the noun of the action. Other subjects have no name. */
const KINDS_OF_NOUNS: Readonly<Partial<Record<AuditNoun, Reference['kind']>>> = {
  member: 'user',
  key: 'key',
  connection: 'connection',
  client: 'client',
  wallet: 'wallet',
  webhook: 'webhook',
}

/** The kind of object whose id a detail of an entry is. */
const KINDS_OF_DETAILS: Readonly<Record<string, Reference['kind']>> = {
  created_by: 'user',
  credential_id: 'wallet_passkey',
  new_key: 'key',
  wallet: 'wallet',
  webhook: 'webhook',
}

export function actorReference({ actor }: AuditEntry): Reference | null {
  return actor.kind === 'operator' ? null : { kind: actor.kind, id: actor.id }
}

/**
 * The subject of an entry. We look at the action and not at the form of the id, because users choose the ids of agents,
 * and an agent's id can look like any other id.
 */
export function subjectReference({ action, subject }: AuditEntry): Reference | null {
  const kinds: Readonly<Record<string, Reference['kind'] | undefined>> = KINDS_OF_NOUNS
  const kind = kinds[action.split('.')[0] ?? '']
  return kind === undefined || subject === null ? null : { kind, id: subject }
}

/** The details of an entry that are ids of named objects, by the name of the detail. */
export function detailReferences({ details }: AuditEntry): readonly (readonly [string, Reference])[] {
  return Object.entries(details).flatMap(([detail, value]) => {
    const kind = KINDS_OF_DETAILS[detail]
    return kind === undefined || typeof value !== 'string' ? [] : [[detail, { kind, id: value }] as const]
  })
}

/** Looks up the name of what a reference names. Null if it is unknown, for example because the object was deleted. */
export type FindName = (reference: Reference | null) => AuditName | null

/** Returns the current names of everything to which audit entries of a workspace refer. */
export async function findAuditNames(
  ctx: Pick<Context, 'db'>,
  { workspaceId, entries }: { workspaceId: string; entries: readonly AuditEntry[] },
): Promise<FindName> {
  const references = entries
    .flatMap((entry) => [
      actorReference(entry),
      subjectReference(entry),
      ...detailReferences(entry).map(([, reference]) => reference),
    ])
    .filter((reference) => reference !== null)
  const idsOf = (kind: Reference['kind']): string[] => [
    ...new Set(references.flatMap((reference) => (reference.kind === kind ? [reference.id] : []))),
  ]
  const ids = {
    key: idsOf('key'),
    client: idsOf('client'),
    connection: idsOf('connection'),
    wallet: idsOf('wallet'),
    webhook: idsOf('webhook'),
    wallet_passkey: idsOf('wallet_passkey'),
  }
  const [people, objects] = await Promise.all([
    listKnownPeople(ctx, { workspaceId, userIds: idsOf('user') }),
    ctx.db.readSlow(listAuditNames(workspaceId, ids), workspaceId),
  ])
  const names = new Map<string, AuditName>([
    ...people.map(({ userId, name, isMember }) => {
      return [keyOf({ kind: 'user', id: userId }), { name, former: !isMember, mode: null }] as const
    }),
    ...objects.map(({ kind, id, name, mode }) => {
      // The path of a webhook's URL may contain a secret.
      const shown = kind === 'webhook' ? new URL(name).host : name
      return [keyOf({ kind, id }), { name: shown, former: false, mode }] as const
    }),
  ])
  return (reference) => (reference === null ? null : (names.get(keyOf(reference)) ?? null))
}

function keyOf({ kind, id }: Reference): string {
  return `${kind} ${id}`
}
