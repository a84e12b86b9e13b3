import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { formatBusy, hasBusyText } from './busy-text.ts'

const DASHBOARD = fileURLToPath(new URL('../', import.meta.url))
const SOURCES = globSync('**/*.tsx', { cwd: DASHBOARD }).map((path) => ({
  path,
  text: readFileSync(DASHBOARD + path, 'utf8'),
}))
/** The label of a button that runs an action: a property of a dialog or form, or the content of a busy button. */
const LABEL_PATTERN =
  /(?:confirmLabel|submitLabel)=(?:"([^"]+)"|\{[^}]*?\? '([^']+)' : '([^']+)'\})|isBusy=\{(?:(?!\/>|<\/Button)[^])*?[^=]>\n\s*(?:(\w[^<{]*?)\s*<|\{[^}]*?\? '([^']+)' : '([^']+)'\})/g

test('a busy button says what it does', () => {
  assert.equal(formatBusy('Create key'), 'Creating…')
  assert.equal(formatBusy('Sign in with a passkey'), 'Signing in…')
})

test('the verb of every button that runs an action is known', () => {
  const labels = SOURCES.flatMap(({ text }) =>
    [...text.matchAll(LABEL_PATTERN)].flatMap((match) => match.slice(1).filter((label) => label !== undefined)),
  )
  assert.ok(labels.length > 30, 'the labels are found in the sources')
  assert.deepEqual(
    labels.filter((label) => !hasBusyText(label)),
    [],
  )
})

test('a button that waits for its action says so: it has `isBusy`, and is not only disabled', () => {
  const silent = SOURCES.filter(({ text }) => /<Button\b[^>]*disabled=\{[^}]*\.isPending/.test(text))
  assert.deepEqual(
    silent.map(({ path }) => path),
    ['pages/consent/decision-form.tsx'],
    'Deny waits for the passkey prompt of Approve, which is the busy one',
  )
})
