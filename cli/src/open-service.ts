import { Bursar } from 'bursar'
import { CliError } from './cli-error.ts'
import { currentToken } from './credentials/current-token.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import type { Settings } from './settings.ts'
import { stopSignal } from './signals.ts'

/** The service, and the options that every call takes. */
export interface Service {
  readonly bursar: Bursar
  readonly options: { readonly signal: AbortSignal }
}

const FINAL_EXITS: readonly ExitCode[] = [EXIT.signIn, EXIT.usage]

/** Opens the service with the credential of the settings. */
export function openService({ folder, baseUrl, credential }: Settings): Service {
  const ended = new AbortController()
  const options = { signal: AbortSignal.any([stopSignal, ended.signal]) }
  if (credential.kind === 'environment') return { options, bursar: new Bursar({ baseUrl, apiKey: credential.secret }) }
  let last: string | undefined
  const bursar = new Bursar({
    baseUrl,
    getToken: async ({ isRejected }) => {
      try {
        last = await currentToken(folder, baseUrl, isRejected ? last : undefined)
        return last
      } catch (error) {
        // Aborts the call. Otherwise the client would retry it although the session has ended for good. Every other
        // error may go away, for example if the service does not respond now.
        if (error instanceof CliError && FINAL_EXITS.includes(error.exitCode)) ended.abort(error)
        throw error
      }
    },
  })
  return { options, bursar }
}
