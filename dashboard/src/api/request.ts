import { hasCode } from './api-error.ts'
import { verify } from './verify.ts'
import { send, type Method, type SendOptions } from './send.ts'

/**
 * Asks the server, as the signed-in person. Where it wants the person to prove first to be there, the passkey is asked
 * for, and the request is made once more.
 *
 * @throws ApiError, or the browser's error when the passkey was not given
 */
export async function request<T>(method: Method, path: string, options: SendOptions = {}): Promise<T> {
  try {
    return await send<T>(method, path, options)
  } catch (error) {
    if (!hasCode(error, 'verification_required')) throw error
    await verify()
    return await send<T>(method, path, options)
  }
}
