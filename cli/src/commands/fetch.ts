import { writeFile } from 'node:fs/promises'
import type { PaidAnswer, PriceCheck } from 'bursar'
import type { Command } from 'commander'
import type { Cli, Run } from '../cli.ts'
import { CliError, usageError } from '../cli-error.ts'
import { choosePayer, type PayerOptions } from '../choose-payer.ts'
import { callService } from '../describe-error.ts'
import { addExamples } from '../describe-program.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { formatPreview } from '../format-preview.ts'
import { openService } from '../open-service.ts'
import { cleanBlock, cleanLine } from '../output/clean-text.ts'
import { formatPairs, formatTable } from '../output/format-table.ts'
import type { Paint } from '../output/style.ts'
import { collectValues, parseAmount } from '../parse-values.ts'
import { readRequest, type RequestOptions, type ResourceRequest } from '../resource-request.ts'
import { waitWithProgress } from '../wait-with-progress.ts'
import { addKeyOptions, addPayerOptions, announceKey, chooseKey, type KeyOptions } from './pay.ts'

interface FetchOptions extends RequestOptions, PayerOptions, KeyOptions {
  readonly pay?: true
  readonly max?: string
  readonly output?: string
  readonly memo?: string
}

export function addFetchCommand(program: Command, run: Run): Command {
  const command = program
    .command('fetch')
    .summary('Buys a web resource, or asks for its price.')
    .description(
      'Asks what a web resource costs. With --pay, buys it (x402 version 1 and 2, MPP) and writes its body to standard output. Repeating the command with the same idempotency key never pays twice: it returns the response again, for 24 hours.',
    )
    .argument('<url>', 'The https URL of the resource.')
    .option('--pay', 'Pays for the resource. Without it, nothing is paid.')
    .option('--max <amount>', 'The most that you pay, in USDC, such as 0.05. Required with --pay.')
    .option('-X, --request <method>', 'The method. The default is GET, or POST with a body.')
    .option(
      '-H, --header <header>',
      'A header of the request; @file reads headers from a file. Can be repeated.',
      collectValues,
    )
    .option('-d, --data <body>', 'The body of the request; @file reads it from a file, @- from standard input.')
    .option('-o, --output <file>', 'Writes the body to this file.')
  addPayerOptions(command)
  addKeyOptions(command)
    .option('--memo <text>', 'A note that is stored with the payment.')
    .action(async (url: string, options: FetchOptions, self: Command) => {
      await run(self, async (cli) => {
        const request = await readRequest(url, options)
        return options.pay === true ? await buy(cli, request, options) : await askPrice(cli, request, options)
      })
    })
  return addExamples(command, [
    { command: 'bursar fetch https://api.example.com/report', effect: 'what does it cost?' },
    { command: 'bursar fetch --pay --max 0.05 https://api.example.com/report > report.json', effect: 'buy it' },
  ])
}

async function askPrice(cli: Cli, request: ResourceRequest, options: FetchOptions): Promise<ExitCode> {
  if (options.max !== undefined || options.output !== undefined) {
    throw usageError('--max and --output need --pay.', { hint: 'Without --pay, the command only asks for the price.' })
  }
  const service = openService(await cli.settings())
  // A wallet is not needed to ask for a price. If there is exactly one, the response also says whether the limits allow
  // the payment.
  const payer = await choosePayer(cli, service, options).catch((error: unknown) => {
    const isOpen = error instanceof CliError && ['payer_required', 'no_wallet'].includes(error.code)
    if (!isOpen || options.agent !== undefined || options.wallet !== undefined) throw error
    return null
  })
  const params = { ...request, ...(payer === null ? {} : { agent_id: payer.agentId, wallet: payer.wallet }) }
  const check = await waitWithProgress(cli, `Asking for the price of ${request.url}`, () =>
    callService(cli, () => service.bursar.x402.check(params, service.options)),
  )
  const isRefused = check.allowed?.allowed === false
  cli.output.answer({
    body: { price: check },
    next:
      check.price_usdc === null || isRefused
        ? null
        : cli.next('fetch', '--pay', '--max', check.price_usdc, ...repeatRequest(options), request.url),
    human: (paint) => formatPrice(check, paint),
  })
  return isRefused ? EXIT.refused : EXIT.ok
}

async function buy(cli: Cli, request: ResourceRequest, options: FetchOptions): Promise<ExitCode> {
  if (options.max === undefined) {
    throw usageError('--pay needs --max, the most that you pay.', { hint: 'For example: --max 0.05' })
  }
  const max = parseAmount(options.max)
  const { key, isMade } = chooseKey(options)
  const service = openService(await cli.settings())
  const { agentId, wallet } = await choosePayer(cli, service, options)
  const { memo, output: file } = options
  const retry = cli.next(
    ...['fetch', '--pay', '--max', max, ...repeatRequest(options), '--agent', agentId, '--wallet', wallet],
    ...(memo === undefined ? [] : ['--memo', memo]),
    ...(file === undefined ? [] : ['--output', file]),
    ...['--idempotency-key', key, request.url],
  )
  if (isMade) announceKey(cli, key, retry)
  const params = {
    ...request,
    agent_id: agentId,
    wallet,
    max_amount_usdc: max,
    idempotency_key: key,
    ...(memo === undefined ? {} : { memo }),
  }
  const answer = await waitWithProgress(cli, `Buying ${request.url}`, () =>
    callService(cli, () => service.bursar.x402.pay(params, service.options), { retry }),
  )
  return await deliver(cli, answer, { file, key, retry })
}

/** Writes what was bought, and says what became of the purchase. */
async function deliver(
  cli: Cli,
  answer: PaidAnswer,
  { file, key, retry }: { readonly file: string | undefined; readonly key: string; readonly retry: readonly string[] },
): Promise<ExitCode> {
  const { payment, purchase, response, delivery } = answer
  const about = { payment, purchase, delivery, idempotency_key: key }
  const bytes =
    response === null
      ? null
      : Buffer.from(response.body ?? response.body_base64 ?? '', response.body === null ? 'base64' : 'utf8')
  if (response === null || bytes === null || response.truncated) {
    if (response !== null && bytes !== null) await writeBody(cli, bytes, file)
    const isUnknown = delivery === 'unknown' && payment?.status !== 'failed'
    throw new CliError(explainLoss(answer), {
      exitCode: EXIT.failure,
      code: codeOfLoss(answer),
      hint: isUnknown ? 'Repeat the command with the same key. It never pays twice.' : undefined,
      next: isUnknown ? retry : payment === null ? null : cli.next('payments', 'get', payment.id),
      answer: about,
    })
  }
  const failed = delivery === 'failed' || response.status >= 400
  const next = payment?.status === 'pending' ? cli.next('payments', 'get', payment.id, '--wait') : null
  const human = (paint: Paint): string => formatPurchase(answer, paint)
  if (cli.globals.json === true && file === undefined) {
    cli.output.answer({ body: { ...about, response }, next, human })
  } else {
    await writeBody(cli, bytes, file)
    const body = { ...about, response: { ...response, body: undefined, body_base64: undefined }, next }
    if (file === undefined) cli.output.notice(body, human(() => '').trimEnd())
    else cli.output.answer({ body: { ...body, output: file }, next, human })
  }
  return failed ? EXIT.failure : EXIT.ok
}

async function writeBody({ output }: Cli, bytes: Buffer, file: string | undefined): Promise<void> {
  if (file !== undefined) return await writeFile(file, bytes)
  if (!output.isTerminal) return output.bytes(bytes)
  const text = bytes.toString('utf8')
  if (!Buffer.from(text, 'utf8').equals(bytes)) {
    output.note('The body is not text, so it is not shown here. Repeat the command with the same key and --output.')
    return
  }
  const cleaned = cleanBlock(text)
  output.bytes(cleaned.endsWith('\n') ? cleaned : `${cleaned}\n`)
}

function codeOfLoss({ payment, response, delivery }: PaidAnswer): string {
  if (response !== null) return 'truncated'
  return payment?.status === 'failed' ? 'payment_failed' : `delivery_${delivery ?? 'unknown'}`
}

function explainLoss({ delivery, response, payment }: PaidAnswer): string {
  if (response?.truncated === true)
    return 'The body is not complete: it is larger than 1 MiB, did not arrive in time, or broke off.'
  if (payment?.status === 'failed')
    return `Nothing was paid: the payment failed (${payment.failure_code ?? 'no code'}).`
  if (delivery === 'unknown') return 'The seller has not responded yet. The payment may have been made.'
  return payment === null
    ? 'The resource sent no response.'
    : "The seller's response is no longer stored. It is kept for 24 hours."
}

/** The options that describe the request, for a command that repeats it. */
function repeatRequest({ request, header, data }: FetchOptions): string[] {
  return [
    ...(request === undefined ? [] : ['--request', request]),
    ...(header ?? []).flatMap((line) => ['--header', line]),
    ...(data === undefined ? [] : ['--data', data]),
  ]
}

function formatPrice(check: PriceCheck, paint: Paint): string {
  const { status, price_usdc: price, protocol, resource, options, unread_options: unread, allowed } = check
  const head = formatPairs(
    [
      ['Resource', resource.url],
      ['Answer', status === 402 ? '402: it asks for a payment' : String(status)],
      ['Price', price === null ? null : `${price} USDC`],
      ['Pay to', options[0]?.pay_to ?? null],
      ['Protocol', protocol],
      ['Not read', unread > 0 ? `${unread} further ways to pay` : null],
      ['The seller says', resource.description],
    ],
    paint,
  )
  if (price === null) return `${head}${explainNoPrice(check, paint)}`
  return allowed === null ? head : `${head}${formatPreview(allowed, paint)}`
}

function explainNoPrice({ status, skipped }: PriceCheck, paint: Paint): string {
  if (skipped.length === 0)
    return status === 402 ? 'It cannot be paid with this service.\n' : 'There is nothing to pay.\n'
  const table = formatTable(
    [
      { title: 'SCHEME', value: ({ scheme }) => scheme },
      { title: 'NETWORK', value: ({ network }) => network },
      { title: 'ASSET', value: ({ asset }) => asset },
      { title: 'REASON', value: ({ reason }) => reason },
    ],
    skipped,
    paint,
  )
  return `It offers no way to pay that the service supports:\n${table}`
}

function formatPurchase({ payment, purchase, response, delivery }: PaidAnswer, paint: Paint): string {
  const about = [
    payment === null ? 'Nothing was paid.' : `Paid ${payment.amount_usdc} USDC (${payment.id}, ${payment.status}).`,
    response === null ? '' : `Status ${response.status}.`,
    delivery === 'failed' ? paint('red', 'The seller did not deliver.') : '',
    purchase?.description === null || purchase === null ? '' : `The seller says: ${cleanLine(purchase.description)}`,
  ]
  return `${about.filter((part) => part !== '').join(' ')}\n`
}
