import type { Command } from 'commander'
import { openChainNode } from '../../../signer/program/chain-node.ts'
import {
  ArgumentError,
  readEvidence,
  readLogKey,
  readOwnerKey,
  readText,
} from '../../../signer/program/read-arguments.ts'
import {
  describeResult,
  describeResults,
  formatInvalid,
  formatResult,
  formatResults,
  hasNo,
} from '../../../signer/src/evidence/format-result.ts'
import type { InvalidResult, Trust, ValidResult } from '../../../signer/src/evidence/judge-payment.ts'
import { verifyEvidence } from '../../../signer/src/evidence/verify-evidence.ts'
import {
  isEvidenceList,
  verifyEvidenceList,
  type WholeList,
} from '../../../signer/src/evidence/verify-evidence-list.ts'
import { checkLog, type LogCheck } from '../check-log.ts'
import type { Cli, Run } from '../cli.ts'
import { CliError, usageError } from '../cli-error.ts'
import { addExamples } from '../describe-program.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { cleanBlock, cleanLine } from '../output/clean-text.ts'

interface VerifyOptions {
  readonly ownerKey: readonly string[]
  readonly logKey: readonly string[]
  readonly rpc?: string
  readonly since?: string
  readonly logUrl?: string
}

export function addVerifyCommand(program: Command, run: Run): Command {
  const command = program
    .command('verify')
    .summary('Verifies the evidence of payments, without the service.')
    .description(
      'Verifies a file with the evidence of a payment, or an export with the evidence of many: whether an owner signed, whether the payment is within the signed limits, and, with --rpc, whether it happened on the chain. Needs no sign-in, and sends nothing anywhere without --rpc or --since.',
    )
    .argument('<file>', 'The file with the evidence. With -, it is read from standard input.')
    .option(
      '--owner-key <key>',
      'The public key of a passkey that owned the wallet first, or a file with it. Repeatable.',
      collect,
      [],
    )
    .option('--log-key <key>', 'The verifier key of the log, or a file with it. Repeatable.', collect, [])
    .option('--rpc <url>', 'Asks this node of the chain whether the payment happened.')
    .option(
      '--since <checkpoint>',
      'A file with an old checkpoint of the log: checks that the log still contains what it covers.',
    )
    .option('--log-url <url>', 'Reads the log from this address for --since, instead of from its host.')
    .action(async (file: string, options: VerifyOptions, self: Command) => {
      await run(self, async (cli) => await verify(cli, file, options))
    })
  return addExamples(command, [
    { command: 'bursar verify evidence.json --owner-key owner.pem', effect: 'who allowed a payment' },
    {
      command: 'bursar verify evidence.ndjson --owner-key owner.pem --log-key log.txt --rpc https://mainnet.base.org',
      effect: 'all payments of an export, also on the chain',
    },
  ])
}

/** Returns the exit code 0 only if the evidence is valid and none of the answers is no. */
async function verify(cli: Cli, file: string, options: VerifyOptions): Promise<ExitCode> {
  const { trust, content, since } = await readInput(file, options)
  const compare = async (logs: ValidResult['logs']): Promise<LogCheck | null> =>
    since === null ? null : await compareLog(logs, { since, url: options.logUrl ?? null })
  const results: ValidResult[] = []
  let log: LogCheck | null
  if (isEvidenceList(content)) {
    const whole = await collectResults(content, { trust, results })
    log = await compare(whole.logs)
    cli.output.answer({
      body: { valid: true, ...describeResults(results, whole), ...describeLog(log) },
      next: null,
      human: () => toBlock([...formatResults(results, whole), ...formatLog(log)]),
    })
  } else {
    const result = await verifyEvidence(content, trust)
    if (result.kind === 'invalid') throw notValid(result)
    results.push(result)
    log = await compare(result.logs)
    cli.output.answer({
      body: { valid: true, ...describeResult(result), ...describeLog(log) },
      next: null,
      human: () => toBlock([...formatResult(result), ...formatLog(log)]),
    })
  }
  return results.some(hasNo) || log?.isConsistent === false ? EXIT.failure : EXIT.ok
}

/** Compares the log with an old checkpoint. A log that cannot be read is no answer about the evidence. */
async function compareLog(logs: ValidResult['logs'], given: { since: string; url: string | null }): Promise<LogCheck> {
  try {
    return await checkLog(logs, given)
  } catch (error) {
    if (error instanceof ArgumentError) throw usageError(error.message)
    const reason = error instanceof Error ? error.message : String(error)
    throw new CliError(`The log cannot be read: ${reason}`, {
      exitCode: EXIT.failure,
      code: 'log_unreachable',
      hint: 'Name another address with --log-url, or leave out --since.',
      cause: error,
    })
  }
}

function describeLog(log: LogCheck | null): object {
  return log === null ? {} : { log: { outcome: log.outcome, reason: log.reason } }
}

function formatLog(log: LogCheck | null): readonly string[] {
  return log === null ? [] : ['', `Log since the old checkpoint: ${log.outcome} (${cleanLine(log.reason)})`]
}

async function readInput(
  file: string,
  { ownerKey, logKey, rpc, since, logUrl }: VerifyOptions,
): Promise<{ trust: Trust; content: Uint8Array<ArrayBuffer>; since: string | null }> {
  checkUrl('--rpc', rpc)
  checkUrl('--log-url', logUrl)
  try {
    const trust = {
      ownerKeys: await Promise.all(ownerKey.map(readOwnerKey)),
      logKeys: await Promise.all(logKey.map(readLogKey)),
      node: rpc === undefined ? null : openChainNode(rpc),
    }
    const old = since === undefined ? null : await readText(since)
    return { trust, content: await readEvidence(file, process.stdin), since: old }
  } catch (error) {
    throw error instanceof ArgumentError ? usageError(error.message) : error
  }
}

/** Collects the results of an export, which count only if all of it is whole. */
async function collectResults(
  content: Uint8Array<ArrayBuffer>,
  { trust, results }: { trust: Trust; results: ValidResult[] },
): Promise<WholeList> {
  for await (const one of verifyEvidenceList(content, trust)) {
    if (one.kind === 'invalid') throw notValid(one)
    if (one.kind === 'whole') return one
    results.push(one)
  }
  throw new Error('the export has no end')
}

function notValid(result: InvalidResult): CliError {
  const { part, reason } = result
  return new CliError(formatInvalid(result), {
    exitCode: EXIT.failure,
    code: 'evidence_invalid',
    answer: { valid: false, part, reason },
  })
}

function checkUrl(option: string, text: string | undefined): void {
  if (text === undefined || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))) return
  throw usageError(`${option} must be an http or https URL.`)
}

function toBlock(lines: readonly string[]): string {
  return cleanBlock(lines.map((line) => `${line}\n`).join(''))
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}
