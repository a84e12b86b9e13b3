import { cleanLine } from './clean-text.ts'
import { element } from './element.ts'
import { DOES_NOT_PROVE } from './evidence/does-not-prove.ts'
import {
  countAnswers,
  countPayments,
  describePayment,
  formatInvalid,
  hasNo,
  listAnswers,
} from './evidence/format-result.ts'
import type { Trust, ValidResult } from './evidence/judge-payment.ts'
import { parseOwnerKey } from './evidence/owner-keys.ts'
import { readVerifierKey } from './evidence/signed-note.ts'
import { verifyContent } from './evidence/verify-content.ts'
import { LIST_BYTES_MAX, type ListResult } from './evidence/verify-evidence-list.ts'

/** The payments of an export that are shown. */
const SHOWN_MAX = 100
const PEM_PATTERN = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g

const fileInput = element('input', {})
const ownerKeys = createText('owner-keys')
const logKeys = createText('log-keys')
const status = element('p', {})
const result = element('div', {})
/** The number of the newest verification. An older one that ends later is not shown. */
let newest = 0
let file: File | null = null

start()

function start(): void {
  fileInput.type = 'file'
  fileInput.id = 'file'
  status.setAttribute('role', 'status')
  document
    .querySelector('main')
    ?.replaceChildren(
      element('h1', {}, 'Verify evidence'),
      element(
        'p',
        {},
        'Shows who allowed a payment, from the file with its evidence. This page verifies the file itself, in your browser. It sends nothing anywhere, so it cannot ask a node of the chain.',
      ),
      labeled(fileInput, 'File with the evidence', 'Choose the file, or drop it on this page.'),
      fileInput,
      labeled(
        ownerKeys,
        'Public keys of owners (optional)',
        'Keys of the passkeys that owned the wallet first, from a source that you trust: PEM, or one key in each line. Without them, nobody knows whose passkey signed.',
      ),
      ownerKeys,
      labeled(
        logKeys,
        'Keys of the log (optional)',
        'Verifier keys of the log, one in each line. Without them, the log could be that of anybody.',
      ),
      logKeys,
      status,
      result,
    )
  fileInput.addEventListener('change', () => choose(fileInput.files?.[0] ?? null))
  for (const text of [ownerKeys, logKeys]) text.addEventListener('change', () => void verify())
  addEventListener('dragover', (event) => {
    event.preventDefault()
    document.body.classList.add('dropping')
  })
  addEventListener('dragleave', () => document.body.classList.remove('dropping'))
  addEventListener('drop', (event) => {
    event.preventDefault()
    document.body.classList.remove('dropping')
    const [dropped] = event.dataTransfer?.files ?? []
    if (dropped === undefined) return
    // The field shows the name of the file that it has.
    const files = new DataTransfer()
    files.items.add(dropped)
    fileInput.files = files.files
    choose(dropped)
  })
}

function choose(chosen: File | null): void {
  file = chosen
  void verify()
}

/** Verifies the file with the keys that are given now, and shows the result. */
async function verify(): Promise<void> {
  newest += 1
  const number = newest
  result.replaceChildren()
  if (file === null) {
    showStatus('')
    return
  }
  showStatus('Verifying the file.')
  const shown = await verifyFile(file).catch((error: unknown) =>
    toFailure(`The file could not be verified: ${String(error)}`),
  )
  if (number !== newest) return
  showStatus(shown.summary, shown.isBad)
  result.replaceChildren(...shown.elements)
}

interface Shown {
  readonly summary: string
  readonly isBad: boolean
  readonly elements: readonly HTMLElement[]
}

async function verifyFile(chosen: File): Promise<Shown> {
  const trust = await readTrust()
  if (typeof trust === 'string') return toFailure(trust)
  if (!(await supportsEd25519())) {
    return toFailure('This browser cannot verify the signature of the log (Ed25519). Use a newer browser.')
  }
  if (chosen.size > LIST_BYTES_MAX) return toFailure('The file is too large.')
  const content = new Uint8Array(await chosen.arrayBuffer())
  const found = await verifyContent(content, trust)
  if (found.kind === 'invalid') return toFailure(formatInvalid(found))
  const { summary, elements } = found.kind === 'list' ? summarizeList(found) : summarizePayment(found)
  return {
    summary,
    isBad: hasNo(found),
    elements: [
      ...elements,
      ...showList('What could not be checked', found.unknown),
      ...showList('What this does not prove', DOES_NOT_PROVE),
    ],
  }
}

function summarizePayment(found: ValidResult): Omit<Shown, 'isBad'> {
  const answers = listAnswers(found).map(({ question, verdict }) => `${question}: ${verdict.answer}.`)
  return { summary: `The evidence is valid. ${answers.join(' ')}`, elements: showPayment(found) }
}

function summarizeList(list: ListResult): Omit<Shown, 'isBad'> {
  const bad = list.payments.filter(hasNo)
  const shown = bad.slice(0, SHOWN_MAX)
  return {
    summary: `The evidence is valid. ${countPayments(list)}`,
    elements: [
      ...showList('Answers', countAnswers(list)),
      ...shown.flatMap(showPayment),
      ...(bad.length > shown.length ? [element('p', {}, `${bad.length - shown.length} more are not shown.`)] : []),
    ],
  }
}

function showPayment(found: ValidResult): readonly HTMLElement[] {
  const rows = listAnswers(found).map(({ question, verdict: { answer, reason } }) =>
    element(
      'div',
      {},
      element('dt', {}, question),
      element(
        'dd',
        {},
        element('div', { className: answer === 'no' ? 'answer no' : 'answer' }, answer),
        element('div', { className: 'quiet' }, cleanLine(reason)),
      ),
    ),
  )
  const title = element('h2', {}, element('bdi', {}, cleanLine(describePayment(found.payment))))
  return [title, element('dl', {}, ...rows)]
}

function showList(title: string, sentences: readonly string[]): readonly HTMLElement[] {
  if (sentences.length === 0) return []
  const entries = sentences.map((sentence) => element('li', {}, cleanLine(sentence)))
  return [element('h2', {}, title), element('ul', {}, ...entries)]
}

function showStatus(text: string, isBad = false): void {
  status.textContent = text
  status.className = isBad ? 'warning' : 'summary'
}

function toFailure(summary: string): Shown {
  return { summary: cleanLine(summary), isBad: true, elements: [] }
}

/** Reads the keys that the user has entered. Returns what is wrong with them, if anything is. */
async function readTrust(): Promise<Trust | string> {
  const owners = listOwnerKeys(ownerKeys.value).map(parseOwnerKey)
  const isOwnersWrong = owners.includes(null)
  ownerKeys.setAttribute('aria-invalid', String(isOwnersWrong))
  const logs = splitLines(logKeys.value)
  const isLogsWrong = !(await Promise.all(logs.map(isLogKey))).every(Boolean)
  logKeys.setAttribute('aria-invalid', String(isLogsWrong))
  if (isOwnersWrong) {
    return 'One of the owners’ keys is not a public key of a passkey: PEM, or the SPKI in base64 or base64url, on the curve P-256.'
  }
  if (isLogsWrong) return 'One of the keys of logs has another form than log.example/log+1a2b3c4d+AW….'
  return { ownerKeys: owners.filter((key) => key !== null), logKeys: logs, node: null }
}

function listOwnerKeys(text: string): readonly string[] {
  return [...(text.match(PEM_PATTERN) ?? []), ...splitLines(text.replaceAll(PEM_PATTERN, '\n'))]
}

function splitLines(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
}

async function isLogKey(text: string): Promise<boolean> {
  return await readVerifierKey(text).then(
    () => true,
    () => false,
  )
}

async function supportsEd25519(): Promise<boolean> {
  return await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']).then(
    () => true,
    () => false,
  )
}

function createText(id: string): HTMLTextAreaElement {
  const text = element('textarea', {})
  text.id = id
  text.spellcheck = false
  text.autocomplete = 'off'
  return text
}

/** Returns a label with an explanation below it, for a field with an id. */
function labeled(field: HTMLElement, text: string, explanation: string): HTMLElement {
  const label = element('label', {}, text)
  label.htmlFor = field.id
  const described = element('span', { className: 'quiet' }, explanation)
  described.id = `${field.id}-about`
  field.setAttribute('aria-describedby', described.id)
  return element('div', {}, label, described)
}
