import type { Context } from '../domain/context.ts'
import type { SignUpPolicy } from '../values/sign-up-policy.ts'
import type { Mode } from '../values/mode.ts'
import type { Cookies } from './cookies.ts'

/** What the dashboard's endpoints are given beside the domain's context. */
export interface ConsoleContext {
  readonly ctx: Context
  readonly cookies: Cookies
  readonly authUrl: string
  /** The origin of the REST API. */
  readonly baseUrl: string
  /** The origin of each chain's block explorer; null for a chain without one. */
  readonly explorerUrls: Readonly<Record<Mode, string | null>>
  readonly faucet: Faucet | null
  /** Who may sign up. */
  readonly signUp: SignUpPolicy
}

/** How people get test USDC: we call an `endpoint` for them; a `site` they visit themselves. */
export interface Faucet {
  readonly kind: 'endpoint' | 'site'
  readonly url: string
}
