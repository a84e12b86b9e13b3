import type { Faucet } from '../values/chains.ts'
import type { Context } from '../domain/context.ts'
import type { SignUpPolicy } from '../values/sign-up-policy.ts'
import type { Mode } from '../values/mode.ts'
import type { Cookies } from './cookies.ts'
import type { Exports } from './exports.ts'

/** The domain's context, and everything else that the dashboard's endpoints need. */
export interface ConsoleContext {
  readonly ctx: Context
  readonly cookies: Cookies
  /** The exports that are running, of all endpoints that export something. */
  readonly exports: Exports
  readonly authUrl: string
  /** The origin of the REST API. */
  readonly baseUrl: string
  /** The origin of each chain's block explorer; null for a chain without one. */
  readonly explorerUrls: Readonly<Record<Mode, string | null>>
  readonly faucet: Faucet | null
  /** Who may sign up. */
  readonly signUp: SignUpPolicy
}
