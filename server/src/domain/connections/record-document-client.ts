import type { Context } from '../context.ts'
import type { Client } from './client.ts'
import { STALE_DOCUMENT_MAX_MS } from './limits.ts'
import { findClientRow, saveDocument } from './requests-store.ts'

/** The content of a client's metadata document, which the caller has already validated. */
export interface DocumentCopy extends Pick<Client, 'name' | 'redirectUris' | 'scopes'> {
  /** The URL of the document, which is the client's id. */
  readonly url: string
  /** How long the copy may be used without reading the document again, in milliseconds. */
  readonly freshForMs: number
  /** A copy that is built into the service never replaces one that was read in the last 7 days. */
  readonly source: 'fetched' | 'built_in'
}

/**
 * Stores a copy of a client's metadata document, or replaces the stored copy (D73). If another process has stored a
 * newer copy meanwhile, that copy is kept and returned. A new client is not logged until a user first decides on one of
 * its requests. The same is true of a client that registers.
 */
export async function recordDocumentClient(
  ctx: Pick<Context, 'db' | 'clock'>,
  { url, name, redirectUris, scopes, freshForMs, source }: DocumentCopy,
): Promise<Client> {
  const now = ctx.clock.now()
  const staleUntil = new Date(now.getTime() - STALE_DOCUMENT_MAX_MS)
  const client: Client = {
    id: url,
    kind: 'document',
    name,
    redirectUris,
    scopes,
    createdAt: now,
    lastUsedAt: null,
    fetchedAt: source === 'fetched' ? now : null,
    freshUntil: new Date(now.getTime() + freshForMs),
  }
  const saved = await ctx.db.write(saveDocument(client, source === 'fetched' ? now : staleUntil))
  const stored = saved ?? (await ctx.db.read(findClientRow(url)))
  if (stored === null) throw new Error('a client was deleted while its document was being stored')
  return stored
}
