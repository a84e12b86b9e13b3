import { checksumAddress } from './describe/checksum-address.ts'
import { formatTimeLeft } from './describe/format.ts'
import type { Description, Fact, Line, Note } from './describe/description.ts'
import { element } from './element.ts'
import type { Claims } from './read-message.ts'

const COUNTDOWN_MS = 10_000
/**
 * The button is disabled at first: if a person clicks twice on the page that opened this one, the second click must not
 * sign.
 */
const UNTIL_ENABLED_MS = 500
/** The least height of the bar with the buttons, which covers the end of the page. */
const BAR_PX_MIN = 60
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
  const { title, summary, source = null, facts, warnings, notes = [], button } = description
  const confirm = element('button', { className: 'primary' }, button)
  confirm.disabled = true
  const cancel = element('button', {}, 'Cancel')
  const left = element('span', {})
  const showLeft = (): void => {
    left.textContent = expiresAt === null ? '' : `Request expires in ${formatTimeLeft(expiresAt, new Date())}.`
  }
  showLeft()
  const more = element('span', { className: 'more' }, 'More below')
  // Screen readers read the whole page in any case.
  more.setAttribute('aria-hidden', 'true')
  const end = element('div', { className: 'end' })
  replacePage(
    heading(title),
    asker(origin),
    element('p', { className: 'summary' }, ...markAddresses(summary)),
    ...warnings.map((text) => element('p', { className: 'warning' }, text)),
    ...(source === null ? [] : [element('p', { className: 'quiet' }, source)]),
    factList(facts),
    ...claimed(claims),
    ...noteList(notes),
    end,
    element(
      'div',
      { className: 'bar' },
      element('p', { className: 'quiet' }, left, more),
      element('div', { className: 'buttons' }, confirm, cancel),
    ),
  )
  const reading = new IntersectionObserver(
    (entries) => {
      more.hidden = entries.some(({ isIntersecting }) => isIntersecting)
    },
    { rootMargin: `0px 0px -${BAR_PX_MIN}px 0px` },
  )
  reading.observe(end)
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
    reading.disconnect()
  }
}

function asker(origin: string): HTMLElement {
  return element('p', { className: 'quiet' }, 'The request comes from ', element('strong', {}, origin))
}

/** Shows what the service says separately, so that nobody mistakes it for part of the signed request. */
function claimed({ workspace, walletName, agentName, dailyLimit, dailyLimitBefore }: Claims): readonly HTMLElement[] {
  const until = dailyLimitBefore === null || dailyLimitBefore === dailyLimit ? '' : `, until now ${dailyLimitBefore}`
  // The limit belongs to the grant of the agent.
  const limit = agentName === null || dailyLimit === null ? null : `${dailyLimit}${until} (not signed)`
  const said = [
    { label: 'Agent', value: agentName },
    { label: '24-hour limit', value: limit },
    { label: 'Wallet', value: walletName },
    { label: 'Workspace', value: workspace },
  ].flatMap(({ label, value }) => (value === null || value === '' ? [] : [{ label, lines: [{ text: value }] }]))
  if (said.length === 0) return []
  const title = element('h2', {}, 'The service says (not checked here)')
  return [element('section', { className: 'claims' }, title, factList(said))]
}

/** Shows the notes behind one line, which says how many there are and what the most important one is about. */
function noteList(notes: readonly Note[]): readonly HTMLElement[] {
  const [first] = notes
  if (first === undefined) return []
  const count = notes.length === 1 ? '1 note' : `${notes.length} notes`
  const line = element('summary', {}, `${count}: ${first.headline}`)
  return [element('details', {}, line, ...notes.map(({ text }) => paragraph(text)))]
}

function factList(facts: readonly Fact[]): HTMLElement {
  const earlier = (title: string, lines: readonly Line[] | undefined): readonly HTMLElement[] =>
    lines === undefined ? [] : [element('div', { className: 'before' }, title, ...lines.map(showLine))]
  const rows = facts.map(({ label, lines, seen, before }) =>
    element(
      'div',
      { className: seen === undefined && before === undefined ? '' : 'changed' },
      element('dt', {}, label),
      element(
        'dd',
        {},
        ...lines.map(showLine),
        ...earlier('Before: ', seen),
        ...earlier('Until now, according to the service: ', before),
      ),
    ),
  )
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

/** Shows addresses with their checksum and in a monospaced font, so that they can be compared. */
function markAddresses(text: string): readonly (HTMLElement | string)[] {
  return text.split(ADDRESS).map((part, index) => (index % 2 === 1 ? showAddress(part) : part))
}

/** Two halves, so that a line can end in the middle of the address only. */
function showAddress(text: string): HTMLElement {
  const address = checksumAddress(text)
  const middle = address.length / 2
  const half = (part: string): HTMLElement => element('span', {}, part)
  return element('code', {}, half(address.slice(0, middle)), half(address.slice(middle)))
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
