import type { Payment } from 'bursar'
import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { CliError } from '../cli-error.ts'
import { callService } from '../describe-error.ts'
import { EXIT } from '../exit-codes.ts'
import type { Service } from '../open-service.ts'
import { parseCount } from '../parse-values.ts'
import { waitWithProgress } from '../wait-with-progress.ts'

const WAIT_SECONDS = 120
const WAIT_SECONDS_MAX = 3_600
const MS_PER_SECOND = 1_000

/** `wait` is `true` if `--wait` is given without a value. */
export interface WaitOption {
  readonly wait?: string | true
}

export function addWaitOption(command: Command): Command {
  return command.option(
    '--wait [seconds]',
    `Waits until the payment is confirmed or has failed, ${WAIT_SECONDS} seconds unless you say how long. Exit code 6 if it is still pending.`,
  )
}

/** Returns how long to wait, in milliseconds. Null: the command does not wait. */
export function parseWait(wait: WaitOption['wait']): number | null {
  if (wait === undefined) return null
  const seconds = wait === true ? WAIT_SECONDS : parseCount(wait, { name: '--wait', min: 1, max: WAIT_SECONDS_MAX })
  return seconds * MS_PER_SECOND
}

/** Waits for the outcome of a payment. Errors: exit code 6 if it is still pending in the end. */
export async function waitForPayment<Paid extends Payment>(
  cli: Cli,
  { bursar, options }: Service,
  { payment, waitMs }: { readonly payment: Paid; readonly waitMs: number },
): Promise<Paid | Payment> {
  if (payment.status !== 'pending') return payment
  const { id } = payment
  try {
    return await waitWithProgress(cli, `Waiting for ${id}`, () =>
      callService(cli, () => bursar.payments.wait(id, { ...options, timeoutMs: waitMs })),
    )
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode === EXIT.signIn) throw error
    const isLate = error.exitCode === EXIT.timeout
    throw new CliError(isLate ? `The payment ${id} is still pending.` : error.message, {
      exitCode: error.exitCode,
      code: error.code,
      hint: isLate ? 'It was made and has no outcome yet. Do not pay again.' : error.hint,
      next: cli.next('payments', 'get', id, '--wait'),
      answer: { payment },
      cause: error,
    })
  }
}
