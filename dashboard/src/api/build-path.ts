import type { Input, RouteName } from '@bursar/server/src/console/contract/all-routes.ts'

/** The parameters and the query of an endpoint's path. */
export interface PathInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
}

/** Returns the path of an endpoint that is not called through `request`: an event stream or a download. */
export function pathOf<Name extends RouteName>(name: Name, input: Input<Name> & PathInput): string {
  const [, url = ''] = name.split(' ')
  return buildPath(url, input)
}

/** Fills in the parameters of an endpoint's path, each escaped, and adds the query without its undefined members. */
export function buildPath(url: string, { params = {}, query = {} }: PathInput): string {
  const path = url.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`the parameter ${name} of ${url} is missing`)
    return encodeURIComponent(value)
  })
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
