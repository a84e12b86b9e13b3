import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { createFile, createList, createListLines, createPlan, encode } from '../signer/evidence-sample.ts'
import { openBrowser } from '../support/browser/browser-fixture.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { openPerson, type Person } from '../support/browser/launch-browser.ts'
import { explainFailure } from '../support/browser/page-history.ts'
import { openSignerSite, type SignerSite } from '../support/browser/signer-site.ts'

const FILE = 'File with the evidence'
const OWNERS = 'Public keys of owners (optional)'
const LOGS = 'Keys of the log (optional)'

const plan = createPlan('owners')
const content = Buffer.from(encode(createFile(plan)))

describe('the page that verifies evidence', () => {
  let site: SignerSite
  let person: Person
  let folder: string
  const requests: string[] = []
  before(async () => {
    const [browser, opened] = await Promise.all([openBrowser(), openSignerSite()])
    site = opened
    folder = await mkdtemp(join(tmpdir(), 'bursar-evidence-'))
    person = await openPerson(browser, { baseURL: site.signerUrl })
    person.context.on('request', (request) => requests.push(request.url()))
    await person.page.goto('/verify.html')
  })
  afterEach((t) => explainFailure(t, [person]))
  after(async () => {
    const { faults } = person
    await person.close()
    await site.close()
    await rm(folder, { recursive: true })
    assert.deepEqual(faults, [])
  })

  test('answers the three questions with the keys that the user gives', async () => {
    const { page } = person
    await choose('evidence.json', content)
    await status(/^The evidence is valid\. Owner signed: not checked\. Within the signed limits: yes\./)
    await page.getByLabel(OWNERS).fill(`${plan.other.publicKeySpki}\n`)
    await page.getByLabel(LOGS).fill(plan.log.verifierKey)
    await page.getByLabel(LOGS).blur()
    await status(/Owner signed: yes\. Within the signed limits: yes\. Happened on the chain: not checked\.$/)
    const pem = `-----BEGIN PUBLIC KEY-----\n${plan.owner.publicKeySpki}\n-----END PUBLIC KEY-----`
    await page.getByLabel(OWNERS).fill(pem)
    await page.getByLabel(OWNERS).blur()
    await status(/Owner signed: yes\./)
    await inspectPage(page, 'signer-verify')
    const shown = await page.getByRole('main').innerText()
    assert.match(shown, /Payment pay_1 \(live\): 1\.25 USDC/)
    assert.match(shown, /What could not be checked\s+You gave no node of the chain\.\s/)
    assert.match(shown, /What this does not prove\s+Who used the passkey/)
  })

  test('says which answer is no', async () => {
    const { page } = person
    await page.getByLabel(OWNERS).fill(createPlan('transfer').owner.publicKeySpki)
    await page.getByLabel(OWNERS).blur()
    await status(/Owner signed: no\. Within the signed limits: not checked\./)
    assert.equal(await page.getByRole('status').getAttribute('class'), 'warning')
    await inspectPage(page, 'signer-verify-no')
  })

  test('names the part of a file that is wrong, and shows nothing else', async () => {
    const { page } = person
    await choose('changed.json', content.toString().replace('1250000', '9250000'))
    await status(/^The evidence is not valid\. In logs\[0\]\.leaves\[\d\]\.proof: /)
    assert.equal(await page.getByRole('heading').count(), 1)
    await inspectPage(page, 'signer-verify-invalid')
    await choose('picture.png', Buffer.from([0x89, 0x50]))
    await status(
      /^The evidence is not valid\. In file: it is not canonical JSON .* so it is no evidence, is incomplete, /,
    )
  })

  test('marks a key that cannot be read', async () => {
    const { page } = person
    await page.getByLabel(OWNERS).fill('MFkw')
    await page.getByLabel(OWNERS).blur()
    await status(/^One of the owners’ keys is not a public key/)
    assert.equal(await page.getByLabel(OWNERS).getAttribute('aria-invalid'), 'true')
    await page.getByLabel(OWNERS).fill('')
    await page.getByLabel(LOGS).fill('log.example/log')
    await page.getByLabel(LOGS).blur()
    await status(/^One of the keys of logs has another form/)
    await page.getByLabel(LOGS).fill('')
    await page.getByLabel(LOGS).blur()
    await status(/In file: /)
  })

  test('accepts a file that is dropped on it, and an export of many payments', async () => {
    const list = createListLines(3)
    await person.page.getByLabel(OWNERS).fill(list.plan.owner.publicKeySpki)
    await drop(createList(list))
    assert.match(await person.page.getByLabel(FILE).inputValue(), /evidence\.json$/)
    await status(/^The evidence is valid\. Payments: 4\. With the answer no: 1\. Left out, .* not yet: 3\.$/)
    await person.page.getByText('Owner signed: 3 yes, 1 no, 0 not checked').waitFor()
    assert.match(await person.page.getByRole('main').innerText(), /Withdrawal pay_1 .*\s+Owner signed\s+no\s/)
    await drop(createList(list).replace('"log":0', '"log":1'))
    await status(/^The evidence is not valid\. In lines\[1\]\.leaves\[0\]\.log: /)
    await drop(createList(list).replace(/[^\n]*\n$/, ''))
    await status(/ In lines\[\d\]: it is about a payment, so the last line is missing, and the export is incomplete\.$/)
  })

  test('can be used with the keyboard alone', async () => {
    const { page } = person
    await page.reload()
    await page.keyboard.press('Tab')
    for (const label of [FILE, OWNERS, LOGS]) {
      assert.ok(await page.getByLabel(label).evaluate((field) => field.matches(':focus')), label)
      await page.keyboard.press('Tab')
    }
  })

  test('requests nothing but its own files', () => {
    const paths = requests.map((url) => new URL(url).pathname)
    assert.ok(paths.length > 10 && requests.every((url) => url.startsWith(`${site.signerUrl}/`)))
    assert.ok(paths.every((path) => /\.(?:html|js|css)$/.test(path)))
    assert.ok(!paths.includes('/passkeys.js'), 'it cannot use the passkeys')
  })

  async function choose(name: string, text: string | Uint8Array): Promise<void> {
    const path = join(folder, name)
    await writeFile(path, text)
    await person.page.getByLabel(FILE).setInputFiles(path)
  }

  async function drop(text: string): Promise<void> {
    const transfer = await person.page.evaluateHandle(`(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([${JSON.stringify(text)}], 'evidence.json'))
      return transfer
    })()`)
    await person.page.dispatchEvent('main', 'dragover', { dataTransfer: transfer })
    await person.page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
  }

  async function status(pattern: RegExp): Promise<void> {
    await person.page.getByRole('status').filter({ hasText: pattern }).waitFor()
  }
})
