import type { Input, Output, RouteName } from '@bursar/server/src/console/contract/all-routes.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { PathInput } from './build-path.ts'
import { keyOf } from './query-key.ts'
import { request } from './request.ts'

type ReadName = Extract<RouteName, `GET ${string}`>
type ReadInput<Name extends ReadName> = Input<Name> & PathInput

interface ReadOptions<Answer, Data> {
  /** Returns the part of the response that the query caches. */
  readonly pick: (answer: Answer) => Data
  /**
   * The mode whose changes the server announces. Then the query is fetched again after each change of the workspace in
   * this mode. Left out for data that the stream of changes does not announce.
   */
  readonly live?: Mode
}

/** The query of an endpoint. Its key, its request and its type come from the endpoint and its input. */
export function query<Name extends ReadName, Data>(
  name: Name,
  input: ReadInput<Name>,
  { pick, live }: ReadOptions<Output<Name>, Data>,
) {
  return queryOptions({
    queryKey: keyOf(name, input, live),
    queryFn: async ({ signal }) => pick(await request(name, { ...input, signal })),
  })
}

/** Where a page begins. Empty for the newest page. */
export type PageStart = Readonly<{ before?: string }>

/** The query of an endpoint that returns pages, the newest first. `inputOf` adds the start of a page to the query. */
export function pagedQuery<Name extends ReadName & PagedName>(
  name: Name,
  inputOf: (start: PageStart) => ReadInput<Name>,
  live?: Mode,
) {
  return infiniteQueryOptions({
    queryKey: keyOf(name, inputOf({}), live),
    queryFn: ({ signal, pageParam }) =>
      request(name, { ...inputOf(pageParam === null ? {} : { before: pageParam }), signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page: { readonly next: string | null }) => page.next,
  })
}

type PagedName = {
  [Name in RouteName]: Output<Name> extends { readonly next: string | null } ? Name : never
}[RouteName]
