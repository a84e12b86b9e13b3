import type { Output, RouteName } from '@bursar/server/src/console/contract/all-routes.ts'
import { hasCode } from './api-error.ts'
import { verify } from './verify.ts'
import { send, type SendOptions } from './send.ts'

/**
 * Sends a request as the signed-in user. If the server requires a recent passkey proof, the user is asked for their
 * passkey, and the request is sent again.
 *
 * @throws ApiError, or the browser's error if the user did not use a passkey
 */
export async function request<Name extends RouteName>(name: Name, options: SendOptions<Name>): Promise<Output<Name>> {
  try {
    return await send(name, options)
  } catch (error) {
    if (!hasCode(error, 'verification_required')) throw error
    await verify()
    return await send(name, options)
  }
}
