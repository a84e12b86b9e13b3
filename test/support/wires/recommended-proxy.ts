import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../free-port.ts'
import { send } from '../http-client.ts'
import { waitFor } from '../wait-for.ts'

export type ProxyName = keyof typeof PROXIES

export interface Proxy {
  readonly port: number
  close(): Promise<void>
}

interface Place {
  readonly port: number
  /** The service's host and port. */
  readonly service: string
  /** For the proxy's files. */
  readonly folder: string
}

/** The page that recommends the settings. */
const PAGE = new URL('../../../docs/site/pages/operate/install.md', import.meta.url)
const SERVICE = '127.0.0.1:4100'

/** The proxies that the page describes: their arguments, and what their files need in addition to the page's settings. */
const PROXIES = {
  nginx: { args: (file: string) => ['-e', 'stderr', '-c', file], complete: completeNginx },
  haproxy: { args: (file: string) => ['-db', '-f', file], complete: completeHaproxy },
}

export const PROXY_NAMES = Object.keys(PROXIES) as readonly ProxyName[]

/** Starts a proxy in front of the service at `url`, with the settings that the documentation recommends. */
export async function startRecommendedProxy(name: ProxyName, url: string): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), `bursar-${name}-`))
  const place = { port: await findFreePort(), service: new URL(url).host, folder }
  const file = join(folder, 'settings')
  const { args, complete } = PROXIES[name]
  await writeFile(file, complete(await readSettings(name), place))
  const child = spawn(name, args(file), { stdio: ['ignore', 'inherit', 'inherit'] })
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
    const answer = await send(`http://127.0.0.1:${place.port}`, { path: '/' }).catch(() => null)
    return answer !== null
  }
  const early = await Promise.race([ended, waitFor(`the start of ${name}`, isReady).catch(String)])
  if (early !== true) {
    await close()
    throw new Error(early)
  }
  return { port: place.port, close }
}

/** Reads the code blocks of a proxy from the page. */
async function readSettings(name: ProxyName): Promise<readonly string[]> {
  const blocks = (await readFile(PAGE, 'utf8')).matchAll(/^```(\w+)\n(.*?)^```$/gms)
  return [...blocks].flatMap(([, language, text = '']) => (language === name ? [text] : []))
}

function completeNginx([main = '', http = '']: readonly string[], { port, service, folder }: Place): string {
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
    replace(replace(http, SERVICE, service), 'server {', `server {\n  listen 127.0.0.1:${port} backlog=4096;`),
    '}',
  ].join('\n')
}

function completeHaproxy([text = '']: readonly string[], { port, service }: Place): string {
  return replace(replace(text, SERVICE, service), 'frontend bursar\n', `frontend bursar\n  bind 127.0.0.1:${port}\n`)
}

function replace(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the settings do not contain ${from}`)
  return text.replace(from, to)
}
