import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { listAgentHosts } from '../../dashboard/src/pages/developers/agent-hosts.ts'
import { readPages } from '../../docs/site/src/pages.ts'
import { writeTwin } from '../../docs/site/src/write-twin.ts'
import { ENDPOINTS } from '../../sandbox/src/control/endpoints.ts'
import { TOOL_CODES } from '../../server/src/mcp/tool-failure.ts'
import { PROBLEM_CODES, PROBLEM_STATUS } from '../../server/src/values/problem.ts'
import { send, type Answer } from '../support/http-client.ts'
import { readBlocks } from './read-blocks.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DIST = join(ROOT, 'docs', 'site', 'dist')
/** The maximum compressed size of the script that a page loads before the reader searches. */
const SCRIPT_BYTES_MAX = 100_000
const LINK = /(?:href|src)="(?<target>[^"]+)"/g
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const pages = readPages()
const byPath = new Map(pages.map((page) => [page.path, page]))

describe('the documentation that the service serves', () => {
  let given: TestService
  const texts = new Map<string, string>()
  before(async () => {
    given = await openTestService()
    for (const path of pages.map(addressOf)) texts.set(path, (await get(path)).text)
  })
  after(() => given.close())

  test('every page is HTML that may load only its own files, on both hosts, and is checked at each visit', async () => {
    for (const path of texts.keys()) {
      const answer = await get(path)
      assert.equal(answer.status, 200, path)
      assert.match(answer.headers['content-type'] ?? '', /^text\/html; charset=utf-8$/i)
      assert.equal(answer.headers['content-security-policy'], POLICY)
      assert.equal(answer.headers['cache-control'], 'no-cache')
      assert.equal(answer.headers['x-content-type-options'], 'nosniff')
      assert.doesNotMatch(
        answer.text,
        /<script(?! type="module" src=)|<style| style=| on\w+="/,
        `${path} has inline code`,
      )
    }
    const other = await send(given.url, { path: '/docs/x402', host: new URL(given.config.baseUrl).host })
    assert.equal(other.text, texts.get('/docs/x402'))
  })

  test('a page that a browser has already is not sent again, and an unknown one is 404', async () => {
    const { headers } = await get('/docs/x402')
    const again = await get('/docs/x402', ['if-none-match', String(headers.etag)])
    assert.deepEqual([again.status, again.text], [304, ''])
    const redirected = await get('/docs')
    assert.deepEqual([redirected.status, redirected.headers.location], [308, '/docs/'])
    for (const path of ['/docs/nothing', '/docs/index.html', '/docs/x402.html', '/docs/x402.md.gz', '/docs/llms.txt']) {
      const { status, text, headers: sent } = await get(path)
      assert.deepEqual([status, sent['content-security-policy']], [404, POLICY], path)
      assert.match(text, /There is no page at this address/)
    }
    for (const path of ['/docs/../../package.json', '/docs/..%2f..%2fpackage.json', '/docs/built-of.txt']) {
      assert.equal((await get(path)).status, 404, path)
    }
  })

  test('a client that accepts a compressed page gets one', async () => {
    const { headers } = await get('/docs/x402', ['accept-encoding', 'br'])
    assert.equal(headers['content-encoding'], 'br')
    assert.match(headers.vary ?? '', /accept-encoding/i)
  })

  test('every page is also there as Markdown, and is listed in /llms.txt', async () => {
    const index = (await get('/llms.txt')).text
    for (const page of pages) {
      const path = `/docs/${page.path}.md`
      const { status, headers, text } = await get(path)
      assert.equal(status, 200, path)
      assert.match(headers['content-type'] ?? '', /^text\/markdown; charset=utf-8$/i)
      assert.equal(text, writeTwin(page))
      assert.ok(text.startsWith(`# ${page.title}\n\n`) && text.length > 0.8 * page.markdown.length)
      assert.doesNotMatch(text, /^```\w+ |\.svg\)/m, 'nothing that concerns only the site and its tests')
      const line = `- [${page.title}](${given.config.baseUrl}${path}): ${page.description}\n`
      assert.ok(index.includes(line), `/llms.txt does not list ${path}`)
      const negotiated = await get(addressOf(page), ['accept', 'text/markdown, */*;q=0.5'])
      assert.equal(negotiated.text, text)
      assert.match(negotiated.headers.vary ?? '', /accept(?!-)/i)
    }
    assert.equal(index.split('\n').filter((line) => line.includes('/docs/')).length, pages.length)
  })

  test('every link leads to something that exists', async () => {
    const checked = new Set<string>()
    for (const [path, html] of texts) {
      for (const { groups } of html.matchAll(LINK)) {
        const target = (groups?.['target'] ?? '').replaceAll('&amp;', '&')
        if (/^(?:https?:|data:)/.test(target)) continue
        const { pathname, hash } = new URL(target, `http://site${path}`)
        if (checked.has(pathname + hash)) continue
        checked.add(pathname + hash)
        const text = texts.get(pathname) ?? (await expectFile(pathname, path))
        if (hash !== '')
          assert.ok(text.includes(`id="${hash.slice(1)}"`), `${path} links to ${target}, which has no such heading`)
      }
    }
    assert.ok(checked.size > 150)
  })

  test('every link of a page in Markdown leads to a page in Markdown', () => {
    const files = new Set(pages.map(({ path }) => `${path}.md`))
    for (const { path, markdown } of pages) {
      for (const [, target = ''] of markdown.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
        if (/^https?:/.test(target) || target.endsWith('.svg')) continue
        assert.ok(files.has(posix.normalize(posix.join(dirname(path), target))), `${path}.md links to ${target}`)
      }
    }
  })

  test('a page loads little script', () => {
    const [, script = ''] = /<script type="module" src="\/docs\/([^"]+)"/.exec(texts.get('/docs/') ?? '') ?? []
    const { size } = statSync(join(DIST, `${script}.gz`))
    assert.ok(size > 0 && size < SCRIPT_BYTES_MAX, `${size} bytes`)
    assert.doesNotMatch(readFileSync(join(DIST, script), 'utf8'), /\bimport\s*[({'"]|https?:\/\//)
  })

  test('assets are cached forever', async () => {
    const [, styles = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(texts.get('/docs/') ?? '') ?? []
    const { status, headers } = await get(styles)
    assert.deepEqual([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable'])
  })

  test('the page of errors says what to do about each code and each type', () => {
    const html = texts.get('/docs/reference/errors') ?? ''
    for (const name of [...Object.keys(PROBLEM_CODES), ...TOOL_CODES, ...Object.keys(PROBLEM_STATUS)]) {
      assert.ok(html.includes(`id="${name}"`), name)
    }
    const advised = html.match(/<strong>What to do:<\/strong> [A-Z<`]/g) ?? []
    assert.equal(advised.length, Object.keys(PROBLEM_CODES).length)
  })

  test('the page of the control API shows each of its paths with a command that uses it', () => {
    const { markdown = '' } = pages.find(({ path }) => path === 'reference/control-api') ?? {}
    for (const endpoint of Object.keys(ENDPOINTS)) {
      const section = markdown.split(`## ${endpoint}\n`)[1]?.split('\n## ')[0] ?? ''
      const [, path = ''] = endpoint.split(' ')
      const used = new RegExp(`\\$BURSAR_CONTROL_URL${path.replaceAll(/:\w+/g, '[$\\w]+')}["?]`)
      assert.match(section, used, endpoint)
    }
  })

  test("the pages of agent hosts show what the dashboard's page Connections shows", () => {
    const hosts = listAgentHosts('http://localhost:4100/mcp').filter(({ id }) => byPath.has(`hosts/${id}`))
    for (const { id, code, withKey } of hosts) {
      const shown = readBlocks(byPath.get(`hosts/${id}`)?.markdown ?? '').map((block) => plain(block.code))
      for (const given of [...code, ...(withKey === undefined ? [] : [withKey.code])]) {
        assert.ok(shown.includes(plain(given.code)), `hosts/${id} does not show\n${given.code}`)
      }
    }
    assert.deepEqual(
      hosts.map(({ id }) => id),
      ['claude-code', 'claude', 'chatgpt', 'cursor', 'vs-code'],
    )
  })

  test('the page of the package gives a reason for each npm package that the service and the dashboard need', () => {
    const needed = ['server', 'dashboard', 'signer'].flatMap((part) => {
      const manifest = readFileSync(join(ROOT, part, 'package.json'), 'utf8')
      const { dependencies = {} } = JSON.parse(manifest) as { dependencies?: Record<string, string> }
      return Object.keys(dependencies).map((name) => `${name} ${part === 'server' ? 'service' : part}`)
    })
    const { markdown = '' } = pages.find(({ path }) => path === 'operate/package') ?? {}
    const rows = [...markdown.matchAll(/^\| `(\S+)` +\| (service|dashboard|signer) +\| (\S.+?) *\|$/gm)]
    assert.deepEqual(rows.map(([, name, part]) => `${name} ${part}`).toSorted(), needed.toSorted())
  })

  async function get(path: string, headers: readonly string[] = []): Promise<Answer> {
    return await given.call({ path, headers })
  }

  async function expectFile(pathname: string, from: string): Promise<string> {
    const { status, text } = await get(pathname)
    assert.equal(status, 200, `${from} links to ${pathname}`)
    return text
  }
})

/** Removes white space, so that the same JSON in another layout is equal. */
function plain(code: string): string {
  return code.replaceAll(/\s/g, '')
}

function addressOf({ path }: { readonly path: string }): string {
  return `/docs/${path === 'index' ? '' : path}`
}
