import type { Output, RouteName } from '@bursar/server/src/console/contract/all-routes.ts'
import { hasCode } from './api-error.ts'
import { verify } from './verify.ts'
import { send, type SendOptions } from './send.ts'

/**
 * Sends a request as the signed-in person. If the server requires a recent passkey proof, the person is asked for their
 * passkey, and the request is sent once more.
 *
 * @throws ApiError, or the browser's error if the person gave no passkey
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
