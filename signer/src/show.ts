import { formatTimeLeft } from './describe/format.ts'
import type { Description, Fact, Line } from './describe/description.ts'
import type { Claims } from './read-message.ts'

const COUNTDOWN_MS = 10_000
/**
 * The button is disabled at first: if a person clicks twice on the page that opened this one, the second click must not
 * sign.
 */
const UNTIL_ENABLED_MS = 500
const QUOTATION_MARK = /[\p{Quotation_Mark}\u{2BA}\u{2033}]/gu
/** The pattern is a group, so that `split` keeps the addresses. */
const ADDRESS = /(0x[0-9a-f]{40})/i

export interface Question {
  readonly origin: string
  readonly claims: Claims
  readonly description: Description
  readonly expiresAt?: Date | null
}

/** Shows what to do if somebody opens this page directly. */
export function showStart(): void {
  replacePage(
    heading('Bursar signer'),
    paragraph('On this page you confirm what your wallet passkey signs. It opens by itself when it is needed.'),
    paragraph('You can close this page.'),
  )
}

/** Shows that no request has arrived yet, or that the last one is done. */
export function showWaiting(): void {
  replacePage(heading('Bursar signer'), paragraph('Waiting for the page that opened this window.'))
}

/** Shows why nothing was signed. */
export function showRefusal({ origin, message }: { origin: string; message: string }): void {
  const alert = element('p', { className: 'warning' }, message)
  alert.setAttribute('role', 'alert')
  replacePage(
    heading('Nothing was signed'),
    asker(origin),
    alert,
    paragraph('Close this window, reload the page you came from, and try again.'),
  )
}

/** Shows a request, and returns whether the person wants to continue. */
export async function ask({ origin, claims, description, expiresAt = null }: Question): Promise<boolean> {
  const { title, summary, facts, warnings, button } = description
  const confirm = element('button', { className: 'primary' }, button)
  confirm.disabled = true
  const cancel = element('button', {}, 'Cancel')
  const left = expiresAt === null ? null : element('p', { className: 'quiet' })
  const showLeft = (): void => {
    if (left === null || expiresAt === null) return
    left.textContent = `This request expires in ${formatTimeLeft(expiresAt, new Date())}.`
  }
  showLeft()
  replacePage(
    heading(title),
    asker(origin),
    paragraph(summary),
    factList(facts),
    ...warnings.map((text) => element('p', { className: 'warning' }, text)),
    ...claimed(claims),
    ...(left === null ? [] : [left]),
    element('div', { className: 'buttons' }, confirm, cancel),
  )
  const countdown = setInterval(showLeft, COUNTDOWN_MS)
  const enabling = setTimeout(() => {
    confirm.disabled = false
  }, UNTIL_ENABLED_MS)
  try {
    return await new Promise<boolean>((resolve) => {
      confirm.addEventListener('click', () => {
        confirm.disabled = true
        cancel.disabled = true
        resolve(true)
      })
      cancel.addEventListener('click', () => resolve(false))
    })
  } finally {
    clearInterval(countdown)
    clearTimeout(enabling)
  }
}

function asker(origin: string): HTMLElement {
  return element('p', { className: 'quiet' }, 'The request comes from ', element('strong', {}, origin))
}

/** Shows the names from the service separately, so that nobody mistakes them for part of the signed request. */
function claimed({ workspace, walletName, agentName }: Claims): readonly HTMLElement[] {
  const said = [
    { label: 'Agent', value: agentName },
    { label: 'Wallet', value: walletName },
    { label: 'Workspace', value: workspace },
  ].flatMap(({ label, value }) => (value === null || value === '' ? [] : [{ label, lines: [{ text: value }] }]))
  if (said.length === 0) return []
  const title = element('h2', {}, 'Names given by the service (not checked by this page)')
  return [element('section', { className: 'claims' }, title, factList(said))]
}

function factList(facts: readonly Fact[]): HTMLElement {
  const rows = facts.map(({ label, lines, before }) => {
    const old =
      before === undefined
        ? []
        : [element('div', { className: 'before' }, 'Until now, according to the service:', ...before.map(showLine))]
    return element('div', {}, element('dt', {}, label), element('dd', {}, ...lines.map(showLine), ...old))
  })
  return element('dl', {}, ...rows)
}

function showLine({ text, claim = '' }: Line): HTMLElement {
  const name =
    claim === ''
      ? []
      : [element('div', { className: 'claim' }, 'The service calls it “', element('bdi', {}, unquote(claim)), '”')]
  return element('div', {}, element('bdi', {}, ...markAddresses(text)), ...name)
}

/** Replaces quotation marks in a name, so that none of them looks like the end of the name. */
function unquote(name: string): string {
  return name.replaceAll(QUOTATION_MARK, '’')
}

/** Addresses are in a monospaced font, so that they can be compared. */
function markAddresses(text: string): readonly (HTMLElement | string)[] {
  return text.split(ADDRESS).map((part, index) => (index % 2 === 1 ? element('code', {}, part) : part))
}

function heading(text: string): HTMLElement {
  document.title = `${text} · Bursar signer`
  const title = element('h1', {}, text)
  title.tabIndex = -1
  return title
}

function paragraph(text: string): HTMLElement {
  return element('p', {}, text)
}

/** Replaces the page, and moves the focus to its heading, so that a screen reader starts there. */
function replacePage(...children: readonly HTMLElement[]): void {
  const main = document.querySelector('main')
  main?.replaceChildren(...children)
  main?.querySelector('h1')?.focus()
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  { className }: { className?: string },
  ...children: readonly (HTMLElement | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  if (className !== undefined) made.className = className
  made.append(...children)
  return made
}
