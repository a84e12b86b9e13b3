import { parseApiError, unreachable } from './api-error.ts'

/** As long as the server takes at the most for a file. */
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000

/**
 * Has the browser save a file of ours, under the name that the server gives it. A refusal is told like any other, which a
 * plain link could not do.
 *
 * @throws ApiError
 */
export async function download(path: string): Promise<void> {
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
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
