/** Scheme, user and password, the list of hosts, and the rest. A user or password contains no bare `@`. */
const URL_PATTERN = /^(?<scheme>postgres(?:ql)?:\/\/)(?<user>[^@/?#]*@)?(?<hosts>[^@/?#]+)(?<rest>[/?#].*)?$/i
const HOST_PATTERN = /^(?:\[[\da-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i
/** The service writes, so it accepts no other servers. For us, both words mean the same. */
const SESSION_ATTRIBUTES: readonly (string | null)[] = ['read-write', 'primary', null]

/**
 * Returns the URL of each server that a database URL names. As with PostgreSQL's own clients, a URL may list several
 * servers: `postgresql://a:5432,b:5432/bursar?target_session_attrs=read-write`. Returns null if the list is not valid, or
 * if the URL asks for servers other than those that accept writes.
 */
export function parseDatabaseUrl(url: string): readonly string[] | null {
  const { scheme, user = '', hosts = '', rest = '' } = URL_PATTERN.exec(url)?.groups ?? {}
  const attributes = new URLSearchParams(rest.split('?')[1]).get('target_session_attrs')
  if (!SESSION_ATTRIBUTES.includes(attributes)) return null
  // Without a list, the driver reads the URL, which may also name a folder with a socket.
  if (scheme === undefined || !hosts.includes(',')) return [url]
  const list = hosts.split(',')
  if (!list.every((host) => HOST_PATTERN.test(host))) return null
  return list.map((host) => `${scheme}${user}${host}${rest}`)
}
