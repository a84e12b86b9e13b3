import type { HttpServer } from '../../http/open-http.ts'
import { createReachabilityCheck } from '../check-reachable.ts'
import type { ConsoleContext } from '../console-context.ts'
import { OUTAGE_ROUTES } from '../contract/outages.ts'

/** Adds the endpoint that lists what cannot be reached. The checks are shared by all pages that this process serves. */
export function addOutageRoute(http: HttpServer, { ctx: { enclave, chains } }: ConsoleContext): void {
  const isEnclaveReachable = createReachabilityCheck(() => enclave.checkReachable())
  const isChainReachable = {
    test: createReachabilityCheck(() => chains.test.checkChainId()),
    live: createReachabilityCheck(() => chains.live.checkChainId()),
  }
  http.route({
    ...OUTAGE_ROUTES.list,
    handler: async (request) => {
      const [hasEnclave, hasChain] = await Promise.all([isEnclaveReachable(), isChainReachable[request.query.mode]()])
      return { outages: [...(hasEnclave ? [] : ['enclave' as const]), ...(hasChain ? [] : ['chain' as const])] }
    },
  })
}
