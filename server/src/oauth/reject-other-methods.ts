import { addOtherMethods } from '../http/add-other-methods.ts'
import type { HttpServer } from '../http/open-http.ts'
import { InvalidRequest } from './oauth-error.ts'

/** Makes a path reject every other method with the error of an OAuth endpoint. */
export function rejectOtherMethods(
  scope: HttpServer,
  path: string,
  methods: { readonly allowed: readonly string[]; readonly besides?: readonly string[] },
): void {
  addOtherMethods(scope, path, {
    ...methods,
    reject: (_reply, allow) => {
      throw new InvalidRequest(`This endpoint supports ${allow} only.`, { status: 405, headers: { Allow: allow } })
    },
  })
}
