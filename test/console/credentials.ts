import assert from 'node:assert/strict'
import type { IssuedApiKey } from '../../server/src/console/contract/keys.ts'
import { getAuthorizationRequest } from '../../server/src/domain/connections/queries.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { authenticateKey } from '../../server/src/domain/keys/authenticate-key.ts'
import { getInvitation, getMembership } from '../../server/src/domain/members/queries.ts'
import {
  exchange,
  isAlive,
  refresh,
  seedConnection,
  seedRequest,
  seedTokens,
} from '../support/context/connection-rows.ts'
import { readRows } from '../support/database/read-rows.ts'
import type { ConsoleServer } from '../support/service/console-server.ts'
import type { ConsoleFixture } from './console-fixture.ts'

/** Something with which a member acts. `works` uses it, and returns whether it still gives access. */
export interface Credential {
  readonly name: string
  readonly works: (ctx: Context) => Promise<boolean>
}

/** Where credentials are made: by a member of a workspace that has an agent. */
export interface Maker {
  readonly server: ConsoleServer
  readonly member: ConsoleFixture
  readonly agentId: string
}

export type Make = (maker: Maker) => Promise<Credential[]>

/** How often a credential that can be used once can be tried. */
const USES = 4

/** Lists the tables that store the hash of a secret, and those that name a person. */
export async function listTablesOfCredentials({
  context: { db },
}: ConsoleServer): Promise<{ readonly secrets: string[]; readonly people: string[] }> {
  const secrets = await readRows(
    db,
    `select distinct table_name::text from information_schema.columns
      where table_schema = current_schema() and column_name like '%\\_hash' and data_type = 'bytea'`,
  )
  const people = await readRows(
    db,
    `select conrelid::regclass::text as table_name from pg_constraint
      where contype = 'f' and confrelid = 'users'::regclass
      union
      select table_name::text from information_schema.columns
      where table_schema = current_schema() and column_name in ('user_id', 'created_by')`,
  )
  const names = (rows: readonly Record<string, unknown>[]) => rows.map((row) => String(row['table_name'])).toSorted()
  return { secrets: names(secrets), people: names(people) }
}

/** Makes all these credentials. */
export async function makeAll(tables: Readonly<Record<string, Make | string>>, maker: Maker): Promise<Credential[]> {
  const made: Credential[] = []
  for (const make of Object.values(tables)) if (typeof make === 'function') made.push(...(await make(maker)))
  return made
}

/** Uses each credential on each process, and returns the names of those that gave access (or gave none) on any of them. */
export async function listWhere(
  expected: boolean,
  credentials: readonly Credential[],
  processes: readonly Context[],
): Promise<string[]> {
  const found = await Promise.all(
    credentials.map(async ({ name, works }) => ({
      name,
      works: await Promise.all(processes.map((ctx) => works(ctx))),
    })),
  )
  return found.filter(({ works }) => works.includes(expected)).map(({ name }) => name)
}

export async function createKey(
  member: ConsoleFixture,
  mode: 'test' | 'live',
  terms: object = {},
): Promise<IssuedApiKey> {
  return await member.browser.ask<IssuedApiKey>('POST', member.at('keys'), { mode, name: 'Key', ...terms }, 201)
}

export async function rotateKey(member: ConsoleFixture, { key }: IssuedApiKey): Promise<IssuedApiKey> {
  return await member.browser.ask<IssuedApiKey>('POST', member.at(`keys/${key.id}/rotate`), {}, 201)
}

export function membershipOf({ context }: ConsoleServer, { userId, workspace }: ConsoleFixture) {
  return getMembership(context, { userId, slug: workspace.slug, right: 'read' })
}

export async function makeKeys({ member, agentId }: Maker): Promise<Credential[]> {
  const old = await createKey(member, 'test')
  const keys = {
    'the key that replaced an old one': await rotateKey(member, old),
    'a rotated key in its grace period': old,
    'a test key': await createKey(member, 'test'),
    'a live key': await createKey(member, 'live'),
    'a key of one agent': await createKey(member, 'test', { agent_id: agentId }),
    'a key with fewer scopes': await createKey(member, 'test', { scopes: ['wallet:read'] }),
  }
  return Object.entries(keys).map(([name, { secret }]) => ({
    name,
    works: async (ctx) => {
      const found = await authenticateKey(ctx, { credential: secret, bucket: 'default', requiredScope: null })
      return found !== null && !found.isHeld
    },
  }))
}

export async function makeTokens({ server, member }: Maker): Promise<Credential[]> {
  const { tokens } = await seedTokens(server.context, { membership: await membershipOf(server, member) })
  return [{ name: 'an access token', works: (ctx) => isAlive(ctx, tokens.accessToken) }]
}

export async function makeRefreshTokens({ server, member }: Maker): Promise<Credential[]> {
  const membership = await membershipOf(server, member)
  const pool = await makeSome(() => seedTokens(server.context, { membership }))
  const use = async (ctx: Context) => {
    const next = takeFrom(pool)
    return (await refresh(ctx, next, next.tokens.refreshToken)).kind === 'issued'
  }
  return [{ name: 'a refresh token', works: use }]
}

export async function makeCodes({ server, member }: Maker): Promise<Credential[]> {
  const membership = await membershipOf(server, member)
  const pool = await makeSome(() => seedConnection(server.context, { membership }))
  const use = async (ctx: Context) => (await exchange(ctx, takeFrom(pool))).kind === 'issued'
  return [{ name: 'an authorization code', works: use }]
}

export async function makeInvitations({ member }: Maker): Promise<Credential[]> {
  return await Promise.all(
    ['admin', 'viewer'].map(async (role) => {
      const path = member.at('invitations')
      const { invitation } = await member.browser.ask<{ invitation: { url: string } }>('POST', path, { role }, 201)
      const secret = invitation.url.split('/').at(-1) ?? ''
      return { name: `an invitation as ${role}`, works: (ctx) => isFound(getInvitation(ctx, { secret })) }
    }),
  )
}

export async function makeSessions({ member }: Maker): Promise<Credential[]> {
  const works = async () => (await member.browser.call('GET', member.at('invitations'))).status === 200
  return [{ name: 'the power of a session', works }]
}

/** An authorization request that nobody has decided on yet. It belongs to nobody. */
export async function makeRequests({ server }: Maker): Promise<Credential[]> {
  const { handle } = await seedRequest(server.context)
  return [{ name: 'an authorization request', works: (ctx) => isFound(getAuthorizationRequest(ctx, { handle })) }]
}

async function isFound(read: Promise<unknown>): Promise<boolean> {
  return await read.then(
    () => true,
    () => false,
  )
}

/** A code or a refresh token can be used once, so each use takes another one that was made before. */
function makeSome<Item>(make: () => Promise<Item>): Promise<Item[]> {
  return Promise.all(Array.from({ length: USES }, make))
}

function takeFrom<Item>(pool: Item[]): Item {
  const next = pool.pop()
  assert.ok(next !== undefined)
  return next
}
