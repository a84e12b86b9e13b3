import type { FastifyRequest } from 'fastify'
import type { Context } from '../domain/context.ts'
import { getMembership } from '../domain/members/get-membership.ts'
import type { Membership } from '../domain/members/member.ts'
import type { SignUpPolicy } from '../domain/sessions/open-sign-up.ts'
import type { Role } from '../domain/members/role.ts'
import { enforceRateLimit } from '../domain/enforce-rate-limit.ts'
import { clientAddress } from '../http/client-address.ts'
import type { Mode } from '../values/mode.ts'
import { Problem } from '../values/problem.ts'
import type { Cookies } from './cookies.ts'
import { getVisitor } from './visitor.ts'

/** What every endpoint of the dashboard is handed. */
export interface Door {
  readonly ctx: Context
  readonly cookies: Cookies
  readonly authUrl: string
  /** The origin of the REST API. */
  readonly baseUrl: string
  /** The origin of a chain's block explorer; null: it has none. */
  readonly explorerUrls: Readonly<Record<Mode, string | null>>
  readonly faucet: Faucet | null
  /** Who may sign up. */
  readonly signUp: SignUpPolicy
}

/** How test USDC is had: an endpoint gives when we ask it, a site is for people to go to. */
export interface Faucet {
  readonly kind: 'endpoint' | 'site'
  readonly url: string
}

const SLUG_PATTERN = /^[a-z0-9-]{1,64}$/

/**
 * The visitor's membership in the workspace that the path names, with `role` or above. 401 when nobody is signed in, 404
 * when it is not a workspace of the visitor's, 403 `role_insufficient`.
 */
export async function membershipOf(
  { ctx }: Door,
  request: FastifyRequest<{ Params: { slug: string } }>,
  role: Role,
): Promise<Membership> {
  const { userId } = getVisitor(request)
  const { slug } = request.params
  if (!SLUG_PATTERN.test(slug)) throw new Problem('not_found', 'No workspace of yours has this slug.')
  return await getMembership(ctx, { userId, slug, role })
}

/** The hook before what begins a sign-up: 10 an hour from one address, since each leaves a person behind (D33). */
export function createSignUpLimit({ ctx }: Door) {
  return async function limitSignUps(request: FastifyRequest): Promise<void> {
    await enforceRateLimit(ctx, { subject: clientAddress(request), bucket: 'sign_up' })
  }
}

/** The hook before what begins a ceremony, or answers a recovery code: 20 a minute from one address (D33). */
export function createCeremonyLimit({ ctx }: Door) {
  return async function limitCeremonies(request: FastifyRequest): Promise<void> {
    await enforceRateLimit(ctx, { subject: clientAddress(request), bucket: 'sign_in' })
  }
}
