import type { Command } from 'commander'
import { ArgumentError, readEvidence, readLogKey, readText, readTrust } from '../../../signer/program/read-arguments.ts'
import { checkLog } from '../../../signer/program/read-log.ts'
import type { SinceResult } from '../../../signer/src/evidence/consistency.ts'
import { EvidenceError } from '../../../signer/src/evidence/evidence-error.ts'
import { describeResult, formatInvalid, formatResult, hasNo } from '../../../signer/src/evidence/format-result.ts'
import { originOf } from '../../../signer/src/evidence/signed-note.ts'
import { describeSince, formatSince } from '../../../signer/src/evidence/format-since.ts'
import type { LogEntry } from '../../../signer/src/evidence/file.ts'
import type { InvalidResult, Trust } from '../../../signer/src/evidence/judge-payment.ts'
import { verifyContent } from '../../../signer/src/evidence/verify-content.ts'
import { publicKeyOf } from '../../../signer/src/evidence/verify-log.ts'
import type { Cli, Run } from '../cli.ts'
import { CliError, usageError } from '../cli-error.ts'
import { addExamples } from '../describe-program.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { cleanBlock, cleanLine } from '../output/clean-text.ts'
import { collectValues } from '../parse-values.ts'

interface VerifyOptions {
  readonly ownerKey?: readonly string[]
  readonly logKey?: readonly string[]
  readonly rpc?: string
  readonly since?: string
  readonly logUrl?: string
}

export function addVerifyCommand(program: Command, run: Run): Command {
  const command = program
    .command('verify')
    .summary('Verifies the evidence of payments, without the service.')
    .description(
      'Verifies a file with the evidence of a payment, or an export with the evidence of many: whether an owner signed, whether the payment is within the signed limits, and, with --rpc, whether it happened on the chain. With --since, whether the log still contains what a checkpoint covers that you have kept. Needs no sign-in, and sends nothing anywhere without --rpc or --since.',
    )
    .argument(
      '[file]',
      'The file with the evidence. With -, it is read from standard input. With --since, it may be left out.',
    )
    .option(
      '--owner-key <key>',
      'The public key of a passkey that owned the wallet first, or a file with it. Can be repeated.',
      collectValues,
    )
    .option('--log-key <key>', 'The verifier key of the log, or a file with it. Can be repeated.', collectValues)
    .option('--rpc <url>', 'Asks this node of the chain whether the payment happened.')
    .option('--since <file>', 'A checkpoint of the log that you have kept. Compares the log of today with it.')
    .option('--log-url <url>', 'Where the log is, if not on the host that the checkpoint names.')
    .action(async (file: string | undefined, options: VerifyOptions, self: Command) => {
      await run(self, async (cli) => await verify(cli, file, options))
    })
  return addExamples(command, [
    { command: 'bursar verify evidence.json --owner-key owner.pem', effect: 'who allowed a payment' },
    {
      command: 'bursar verify evidence.ndjson --owner-key owner.pem --log-key log.txt --rpc https://mainnet.base.org',
      effect: 'all payments of an export, also on the chain',
    },
    {
      command: 'bursar verify --since checkpoint.txt --log-key log.txt',
      effect: 'whether the log was rewritten since',
    },
  ])
}

/** Returns the exit code 0 only if the evidence is valid, none of the answers is no, and the log contains the old leaves. */
async function verify(cli: Cli, file: string | undefined, options: VerifyOptions): Promise<ExitCode> {
  if (file === undefined) {
    const log = await readSince(options, [])
    if (log === null) throw usageError('Name a file with evidence, or a checkpoint with --since.')
    cli.output.answer({
      body: { valid: true, log: describeSince(log) },
      next: null,
      human: () => toBlock(formatSince(log)),
    })
    return isContained(log) ? EXIT.ok : EXIT.failure
  }
  const { trust, content } = await readInput(file, options)
  const result = await verifyContent(content, trust)
  if (result.kind === 'invalid') throw notValid(result)
  const log = await readSince(options, result.logs)
  cli.output.answer({
    body: { valid: true, ...describeResult(result), ...describeLog(log) },
    next: null,
    human: () => toBlock([...formatResult(result), ...formatLog(log)]),
  })
  return hasNo(result) || !isContained(log) ? EXIT.failure : EXIT.ok
}

/** Returns whether the log still contains what the kept checkpoint covers, if there is one. */
const isContained = (log: SinceResult | null) => log === null || log.outcome === 'consistent'

const describeLog = (log: SinceResult | null) => (log === null ? {} : { log: describeSince(log) })
const formatLog = (log: SinceResult | null) => (log === null ? [] : ['', ...formatSince(log)])

/**
 * Compares the kept checkpoint, and those of the same key in the evidence, with the log of today. Null without `--since`.
 */
async function readSince(
  { since, logKey = [], logUrl }: VerifyOptions,
  logs: readonly LogEntry[],
): Promise<SinceResult | null> {
  if (since === undefined) return null
  try {
    const kept = await readText(since)
    const origin = originOf(kept)
    const keys = await Promise.all(logKey.map(readLogKey))
    const ofOrigin = keys.find((one) => one.startsWith(`${origin}+`))
    // A log that was restored has another origin, but the same key.
    const key = ofOrigin ?? (keys.length === 1 ? keys[0] : undefined)
    if (key === undefined) throw new ArgumentError(`--since needs --log-key with the key of ${origin}.`)
    // A file can name several logs of this key, with other origins. All of them are compared.
    const own = logs.filter((log) => publicKeyOf(log.key) === publicKeyOf(key))
    if (logs.length > 0 && own.length === 0) throw new EvidenceError('logs', 'none is of the key of the old checkpoint')
    const checkpoints = own.map(({ checkpoint }) => checkpoint)
    return await checkLog({ since: kept, logKey: key, logUrl: logUrl ?? null, checkpoints })
  } catch (error) {
    if (error instanceof ArgumentError) throw usageError(error.message)
    if (error instanceof EvidenceError) throw notContained(error)
    throw new CliError(`The log could not be read: ${error instanceof Error ? error.message : String(error)}`, {
      exitCode: EXIT.failure,
      code: 'log_unreadable',
    })
  }
}

async function readInput(
  file: string,
  options: VerifyOptions,
): Promise<{ trust: Trust; content: Uint8Array<ArrayBuffer> }> {
  try {
    return { trust: await readTrust(options), content: await readEvidence(file, process.stdin) }
  } catch (error) {
    throw error instanceof ArgumentError ? usageError(error.message) : error
  }
}

/** The evidence may be valid, but the log does not contain what the kept checkpoint covers. */
function notContained({ part, reason }: EvidenceError): CliError {
  return new CliError(`Not consistent with the old checkpoint: ${cleanLine(`${part}: ${reason}`)}`, {
    exitCode: EXIT.failure,
    code: 'log_inconsistent',
    answer: { valid: false, part, reason },
  })
}

function notValid(result: InvalidResult): CliError {
  const { part, reason } = result
  return new CliError(formatInvalid(result), {
    exitCode: EXIT.failure,
    code: 'evidence_invalid',
    answer: { valid: false, part, reason },
  })
}

function toBlock(lines: readonly string[]): string {
  return cleanBlock(lines.map((line) => `${line}\n`).join(''))
}
