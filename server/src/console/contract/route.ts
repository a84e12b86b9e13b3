import type { Static, TObject, TSchema } from 'typebox'
import type { Role } from '../../domain/members/role.ts'

/** Who may call an endpoint, and how often. `enforce-access.ts` enforces the role and the bucket. */
export interface Access {
  /** The least that the caller must be: anyone, signed in, or a member of the path's workspace with at least this role. */
  readonly role: 'none' | 'session' | Role
  readonly proof: Proof
  /** Every request counts against `dashboard`. Those that begin a ceremony count per address as well, in a bucket of their own. */
  readonly bucket: 'dashboard' | 'sign_in' | 'sign_up'
}

/**
 * Whether the caller must have proved their presence by passkey in the last ten minutes: always, for some requests only, or
 * never, for a reason that is stated. This is a declaration. The operation in the domain checks it, so that a new way in
 * cannot forget it, and `test/console/stolen-cookie.test.ts` checks that both agree.
 */
export type Proof = 'required' | 'conditional' | { readonly notNeeded: string }

/** What an endpoint of the dashboard accepts, returns and requires. */
export interface ConsoleRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly url: `/console/${string}`
  readonly config: Access
  readonly schema: {
    readonly params?: TObject
    readonly querystring?: TObject
    readonly body?: TObject
    /** By the status of success. Missing where the response is a stream. Members that are not listed are never sent. */
    readonly response?: { readonly 200: TObject } | { readonly 201: TObject }
  }
}

export type ConsoleRoutes = Readonly<Record<string, ConsoleRoute>>

/** Why an endpoint that only reads needs no proof. */
export const READS = { notNeeded: 'only reads' } as const
/** Why an endpoint that revokes or stops something needs no proof: it must never have to wait. */
export const ENDS_POWER = { notNeeded: 'only ends power' } as const

/** The type of what a schema describes. Read only, so that TypeScript can narrow its members. */
export type Shape<Schema extends TSchema> = Readonly<Static<Schema>>

/** What a caller sends: `params`, `query` and `body`, each only if the route has one. */
export type InputOf<Route extends ConsoleRoute> = Part<'params', Route['schema']['params']> &
  Part<'query', Route['schema']['querystring']> &
  Part<'body', Route['schema']['body']>

/** What a caller receives. */
export type OutputOf<Route extends ConsoleRoute> = Route['schema'] extends { readonly response: infer Response }
  ? StaticOf<Response[keyof Response]>
  : never

type Part<Name extends string, Schema> = Schema extends TSchema ? Readonly<Record<Name, Static<Schema>>> : unknown
type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : never
