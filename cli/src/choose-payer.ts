import type { Cli } from './cli.ts'
import { CliError, usageError } from './cli-error.ts'
import { callService } from './describe-error.ts'
import { EXIT } from './exit-codes.ts'
import type { Service } from './open-service.ts'
import { parseAddress } from './parse-values.ts'

/** The options that say who pays. */
export interface PayerOptions {
  readonly agent?: string
  readonly wallet?: string
}

export interface Payer {
  readonly agentId: string
  readonly wallet: string
}

/**
 * Decides which agent pays from which wallet. What the options leave open is taken from the credential, if it allows
 * exactly one choice. Nothing is guessed.
 */
export async function choosePayer(cli: Cli, { bursar, options }: Service, chosen: PayerOptions): Promise<Payer> {
  const wallet = chosen.wallet === undefined ? undefined : parseAddress(chosen.wallet)
  if (chosen.agent !== undefined && wallet !== undefined) return { agentId: chosen.agent, wallet }
  const me = await callService(cli, () => bursar.me(options))
  const payers = me.wallets.flatMap(({ address, agent_id: named }): Payer[] => {
    const agentId = named ?? me.agent_id
    return agentId === null ? [] : [{ agentId, wallet: address }]
  })
  const fitting = payers.filter(
    (payer) =>
      (chosen.agent === undefined || payer.agentId === chosen.agent) &&
      (wallet === undefined || payer.wallet.toLowerCase() === wallet.toLowerCase()),
  )
  const [only, ...others] = fitting
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined) {
    const list = fitting.map((payer) => `--agent ${payer.agentId} --wallet ${payer.wallet}`).join('\n  ')
    throw usageError('Several agents or wallets can pay. Choose one with --agent and --wallet.', {
      code: 'payer_required',
      hint: `Add one of these:\n  ${list}`,
      details: fitting.map((payer) => ({ agent_id: payer.agentId, wallet: payer.wallet })),
    })
  }
  throw new CliError('There is no wallet from which this credential can pay now.', {
    exitCode: EXIT.refused,
    code: 'no_wallet',
    hint: 'The owner of a wallet must sign or resume a grant for the agent, in the dashboard.',
    next: cli.next('wallets'),
  })
}
