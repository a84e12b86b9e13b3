import { banInCode, isServer, type Rule } from '../rule.ts'

/** The files that send https requests themselves: the requests of the service, and the doctor's visit of our own sites. */
const SENDERS_PATTERN = /^server\/src\/(?:lib\/outbound\/|doctor\/check-sites\.ts$)/
const BOUNDED_FETCH_PATTERN = /\/bounded-fetch\.ts$/

const NO_GLOBAL_FETCH = banInCode({
  name: 'the global fetch',
  pattern: /(?<![.\w$])fetch\s*\(/,
  instead: 'the global fetch knows no proxy: use createBoundedFetch of lib/outbound',
  holdsIn: (module) =>
    isServer(module) &&
    !SENDERS_PATTERN.test(module.path) &&
    !module.imports.some(({ specifier }) => BOUNDED_FETCH_PATTERN.test(specifier)),
})

/** With HTTPS_PROXY, all requests to other servers go through the proxy. A new way out would not. */
export const ONE_WAY_OUT: Rule = {
  name: 'requests to other servers are sent in lib/outbound',
  check: (tree) => [
    ...NO_GLOBAL_FETCH.check(tree),
    ...tree.modules
      .filter((module) => isServer(module) && !SENDERS_PATTERN.test(module.path))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ specifier }) => /^(?:node:)?(?:https|http2|undici)$/.test(specifier))
          .map(({ line, specifier }) => ({
            path,
            line,
            message: `an import of ${specifier}: send the request with lib/outbound, which knows the proxy`,
          })),
      ),
  ],
}
