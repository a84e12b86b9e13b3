/** Returns what is stored in the open of the URL of a resource: not its query and fragment, which may hold secrets. */
export function describeResource(url: string): { readonly resourceUrl: string; readonly host: string } {
  const { origin, pathname, host } = new URL(url)
  return { resourceUrl: `${origin}${pathname}`, host }
}
