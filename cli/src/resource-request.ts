import { readFile } from 'node:fs/promises'
import { usageError } from './cli-error.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof METHODS)[number]

/** The options that describe the request for a resource, with the names that curl gave them. */
export interface RequestOptions {
  readonly request?: string
  readonly header?: readonly string[]
  readonly data?: string
}

/** The request for a resource, as the API takes it. */
export interface ResourceRequest {
  readonly url: string
  readonly method?: Method
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly body_base64?: string
}

/**
 * Reads the request from the options. In place of a value, `@` and a name stand for the content of a file, and `@-` for
 * standard input.
 */
export async function readRequest(url: string, { request, header, data }: RequestOptions): Promise<ResourceRequest> {
  if (!URL.canParse(url)) throw usageError(`${JSON.stringify(url)} is not a URL.`)
  const lines = await Promise.all((header ?? []).map(readHeaderLines))
  const headers = Object.fromEntries(lines.flat().map(parseHeader))
  const method = request === undefined ? null : parseMethod(request)
  const body = data === undefined ? {} : await readBody(data)
  return {
    url,
    ...(method === null ? (data === undefined ? {} : { method: 'POST' }) : { method }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...body,
  }
}

function parseMethod(text: string): Method {
  const method = METHODS.find((name) => name === text.toUpperCase())
  if (method !== undefined) return method
  throw usageError(`--request: use one of ${METHODS.join(', ')}.`)
}

async function readHeaderLines(text: string): Promise<string[]> {
  if (!text.startsWith('@')) return [text]
  const content = (await readInput(text.slice(1))).toString('utf8')
  return content.split(/\r?\n/).filter((line) => line.trim() !== '')
}

function parseHeader(line: string): [string, string] {
  const end = line.indexOf(':')
  if (end > 0) return [line.slice(0, end).trim().toLowerCase(), line.slice(end + 1).trim()]
  // The line itself may be a secret, so it is not shown.
  throw usageError('--header must be a name and a value, such as "Accept: application/json".')
}

async function readBody(text: string): Promise<Pick<ResourceRequest, 'body' | 'body_base64'>> {
  if (!text.startsWith('@')) return { body: text }
  const bytes = await readInput(text.slice(1))
  const decoded = bytes.toString('utf8')
  return Buffer.from(decoded, 'utf8').equals(bytes) ? { body: decoded } : { body_base64: bytes.toString('base64') }
}

async function readInput(name: string): Promise<Buffer> {
  try {
    if (name !== '-') return await readFile(name)
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
    return Buffer.concat(chunks)
  } catch {
    throw usageError(`The file ${name} cannot be read.`)
  }
}
