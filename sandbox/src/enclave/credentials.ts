import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'

export interface AppCredentials {
  readonly appId: string
  readonly appSecret: string
}

/** Compares two secrets in constant time. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right))
}

/** Responds with 401 unless the request has the app's Basic credentials, and the app's id in `privy-app-id`. */
export function checkCredentials(request: FastifyRequest, { appId, appSecret }: AppCredentials): void {
  if (request.headers['privy-app-id'] !== appId) {
    throw new ApiError(401, 'Invalid Privy app ID', { code: 'missing_or_invalid_privy_app_id' })
  }
  const expected = `Basic ${Buffer.from(`${appId}:${appSecret}`).toString('base64')}`
  if (!equalSecrets(request.headers.authorization ?? '', expected)) {
    throw new ApiError(401, 'Invalid app ID or app secret.')
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
