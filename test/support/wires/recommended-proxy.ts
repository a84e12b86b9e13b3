import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../free-port.ts'
import { send } from '../http-client.ts'
import { waitFor } from '../wait-for.ts'

export type ProxyName = keyof typeof PROXIES

export interface Proxy {
  readonly port: number
  /** The process that was started. nginx has others for the requests, which are its children. */
  readonly pid: number
  close(): Promise<void>
}

interface Place {
  readonly port: number
  /** For the proxy's files. */
  readonly folder: string
}

/** The pages that recommend settings. */
const PAGES = new URL('../../../docs/site/pages/operate/', import.meta.url)
const SERVICE = '127.0.0.1:4100'
/** The port and the certificate of TLS. The tests have no certificate. */
const TLS_LINES = /^.*\bssl.*\n/gm

/** The proxies that the page _Install_ describes: their arguments, and what their files need in addition to the page's settings. */
const PROXIES = {
  nginx: { args: (file: string) => ['-e', 'stderr', '-c', file], complete: completeNginx },
  haproxy: { args: (file: string) => ['-db', '-f', file], complete: completeHaproxy },
}

export const PROXY_NAMES = Object.keys(PROXIES) as readonly ProxyName[]

export function isInstalled(name: ProxyName): boolean {
  return spawnSync(name, ['-v']).error === undefined
}

/** Starts a proxy in front of the service at `url`, with the settings that the documentation recommends. */
export async function startRecommendedProxy(name: ProxyName, url: string): Promise<Proxy> {
  const blocks = await readSettings('install.md', name)
  const text = (place: Place): string => replace(PROXIES[name].complete(blocks, place), SERVICE, new URL(url).host)
  return await startProxy(name, text)
}

/** Reads the settings with which the documentation makes nginx the router of several cells. */
export async function readRouter(): Promise<string> {
  const [block] = await readSettings('growing.md', 'nginx')
  if (block === undefined) throw new Error('the page has no settings')
  return block
}

/** Starts nginx with settings for its block `http`, whose first server listens at the port of the result. */
export async function startNginx(http: string): Promise<Proxy> {
  return await startProxy('nginx', (place) => completeNginx(['events {}', http], place))
}

async function startProxy(name: ProxyName, settings: (place: Place) => string): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), `bursar-${name}-`))
  const port = await findFreePort()
  const file = join(folder, 'settings')
  await writeFile(file, settings({ port, folder }))
  const child = spawn(name, PROXIES[name].args(file), { stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(String(error)))
    child.once('exit', (code) => resolve(`${name} ended with code ${code}`))
  })
  const close = async (): Promise<void> => {
    child.kill()
    await ended
    await rm(folder, { recursive: true })
  }
  const isReady = async (): Promise<boolean> => {
    const answer = await send(`http://127.0.0.1:${port}`, { path: '/' }).catch(() => null)
    return answer !== null
  }
  const early = await Promise.race([ended, waitFor(`the start of ${name}`, isReady).catch(String)])
  if (early !== true || child.pid === undefined) {
    await close()
    throw new Error(String(early))
  }
  return { port, pid: child.pid, close }
}

/** Reads the code blocks of a proxy from a page. */
async function readSettings(page: string, name: ProxyName): Promise<readonly string[]> {
  const blocks = (await readFile(new URL(page, PAGES), 'utf8')).matchAll(/^```(\w+)\n(.*?)^```$/gms)
  return [...blocks].flatMap(([, language, text = '']) => (language === name ? [text] : []))
}

function completeNginx([main = '', http = '']: readonly string[], { port, folder }: Place): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return [
    'daemon off;',
    // nginx would use a user that cannot write to the folder.
    `user ${userInfo().username};`,
    `pid ${folder}/pid;`,
    main,
    'http {',
    'access_log off;',
    ...kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`),
    replace(http.replace(TLS_LINES, ''), 'server {\n', `server {\n  listen 127.0.0.1:${port} backlog=4096;\n`),
    '}',
  ].join('\n')
}

function completeHaproxy([text = '']: readonly string[], { port }: Place): string {
  return replace(text.replace(TLS_LINES, ''), 'frontend bursar\n', `frontend bursar\n  bind 127.0.0.1:${port}\n`)
}

function replace(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the settings do not contain ${from}`)
  return text.replace(from, to)
}
