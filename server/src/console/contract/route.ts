import type { Static, TObject, TSchema } from 'typebox'
import type { Right } from '../../values/role.ts'

/** Who may call an endpoint, and how often. `enforce-access.ts` enforces the right and the rate limit. */
export interface Access {
  /**
   * What the caller needs. `nothing`: anyone may call. `session`: anyone who is signed in. Otherwise: a member of the
   * workspace that the path names, whose role has this right.
   */
  readonly needs: 'nothing' | 'session' | Right
  readonly proof: ProofNeed
  /**
   * The rate limit. Every request counts against `dashboard`. A request that begins a sign-in or a sign-up also counts
   * against `sign_in` or `sign_up`, per IP address.
   */
  readonly bucket: 'dashboard' | 'sign_in' | 'sign_up'
}

/**
 * Whether the caller must have proved their presence with a passkey in the last ten minutes: always, only for some
 * requests, or never. In the last case, `notNeeded` states the reason. This value is only a declaration: the domain
 * function that the endpoint calls makes the check, so every other caller of that function is checked too.
 * `test/console/stolen-cookie.test.ts` checks that the declaration agrees with the domain.
 */
export type ProofNeed = 'required' | 'conditional' | { readonly notNeeded: string }

/** What an endpoint of the dashboard accepts, returns and requires. */
export interface ConsoleRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly url: `/console/${string}`
  readonly config: Access
  readonly schema: {
    readonly params?: TObject
    readonly querystring?: TObject
    readonly body?: TObject
    /**
     * The schema of a successful response, keyed by its status. Missing if the response is a stream. Members that are
     * not in the schema are never sent.
     */
    readonly response?: { readonly 200: TObject } | { readonly 201: TObject }
  }
}

export type ConsoleRoutes = Readonly<Record<string, ConsoleRoute>>

/** The reason why an endpoint that only reads needs no passkey proof. */
export const READS = { notNeeded: 'only reads' } as const
/**
 * The reason why an endpoint that revokes or stops something needs no passkey proof: in an emergency, the proof would
 * only delay it.
 */
export const ENDS_POWER = { notNeeded: 'only ends power' } as const

/** The reason why an endpoint that renames something needs no passkey proof. The audit log records the old name. */
export const ONLY_A_NAME = { notNeeded: 'only changes a name' } as const

/**
 * The type of the values that a schema describes. It is read-only, so that TypeScript can narrow the types of its
 * members.
 */
export type Shape<Schema extends TSchema> = Readonly<Static<Schema>>

/** The type of what a caller sends: `params`, `query` and `body`, each only if the route declares it. */
export type InputOf<Route extends ConsoleRoute> = Part<'params', Route['schema']['params']> &
  Part<'query', Route['schema']['querystring']> &
  Part<'body', Route['schema']['body']>

/** The type of what a caller receives. */
export type OutputOf<Route extends ConsoleRoute> = Route['schema'] extends { readonly response: infer Response }
  ? StaticOf<Response[keyof Response]>
  : never

type Part<Name extends string, Schema> = Schema extends TSchema ? Readonly<Record<Name, Static<Schema>>> : unknown
type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : never
