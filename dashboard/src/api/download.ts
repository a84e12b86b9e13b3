import { parseApiError, unreachable } from './api-error.ts'

/** How long a download may take. */
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000

/**
 * Downloads a file from the server, saves it under the name that the server gives, and returns it. Unlike a plain link,
 * this lets the page show an error if the server rejects the request.
 *
 * @throws ApiError
 */
export async function download(path: string): Promise<Blob> {
  const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) }).catch(
    () => {
      throw unreachable()
    },
  )
  if (!response.ok) throw parseApiError(response.status, await response.json().catch(() => undefined))
  const content = await response.blob().catch(() => {
    throw unreachable()
  })
  save(content, /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'bursar.csv')
  return content
}

/** Saves a text as a file. */
export function saveText(text: string, name: string): void {
  save(new Blob([text], { type: 'text/plain' }), name)
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
