import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import { enforceRateLimit } from '../../domain/enforce-rate-limit.ts'
import { findHashes, parseTilePath } from '../../domain/transparency-log/tile.ts'
import { NoteSigner } from '../../domain/transparency-log/signed-note.ts'
import { suffixOfOrigin } from '../../domain/transparency-log/restored-leaf.ts'
import { findLogHead, findTiles, listRestoredLeaves } from '../../domain/transparency-log/transparency-log-store.ts'
import { clientAddress } from '../../http/client-address.ts'
import { pathOfLog } from '../../http/log-path.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { Problem } from '../../values/problem.ts'

/** The key and the name never change, unless the operator has lost the key or restored the database. */
const METADATA_SECONDS = 60
/** A new checkpoint is made every second at most. */
const CHECKPOINT_SECONDS = 1
/** A tile never changes. */
const TILE_SECONDS = 365 * 24 * 60 * 60
/** At most this many restores are listed. Each leaf has about a kilobyte. */
const RESTORES_LISTED_MAX = 100

/**
 * Adds the public files of the transparency log (D80): the newest checkpoint and the tiles, in the formats of C2SP
 * tlog-checkpoint and tlog-tiles, and the document that names its key. They need no credential, and tell nothing but how
 * many leaves there are and their hashes. The leaves are not public.
 */
export function addTransparencyLog(
  scope: HttpServer,
  ctx: Pick<Context, 'db' | 'clock' | 'cell' | 'transparencyLog'>,
  { baseUrl }: { readonly baseUrl: string },
): void {
  const base = pathOfLog(ctx)
  const limitRate = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // Some caches keep a 404 too. What is missing now may be there in a second.
    reply.header('Cache-Control', 'no-store')
    await enforceRateLimit(ctx, { subject: clientAddress(request), bucket: 'log' })
  }
  const options = { onRequest: limitRate, config: { load: 'database' }, schema: { hide: true } } as const

  scope.get('/.well-known/bursar-log.json', options, async (_request, reply) => {
    const [[{ origin }, restored], seed] = await Promise.all([
      ctx.db.read([findLogHead(), listRestoredLeaves(RESTORES_LISTED_MAX)]),
      ctx.transparencyLog.key.read(),
    ])
    const name = origin ?? ctx.transparencyLog.origin
    const url = `${baseUrl}${pathOf(name)}`
    return cached(reply, METADATA_SECONDS).send({
      origin: name,
      verifier_key: new NoteSigner(name, seed).verifierKey,
      checkpoint_url: `${url}/checkpoint`,
      tiles_url: `${url}/tile`,
      restored: restored.map(({ position, content }) => ({ position, leaf: content })),
    })
  })
  // A log that began after a restore has addresses of its own, because caches keep the tiles of the log that ended.
  for (const path of [base, `${base}/:suffix`]) {
    const params = path === base ? {} : { suffix: Type.String() }
    scope.get(
      `${path}/checkpoint`,
      { ...options, schema: { hide: true, params: Type.Object(params) } },
      async (request, reply) => {
        const { origin, checkpoint } = await ctx.db.read(findLogHead())
        requireCurrent(origin, request.url)
        if (checkpoint === null) throw new Problem('not_found', 'The transparency log has no leaf yet.')
        return cached(reply, CHECKPOINT_SECONDS).type('text/plain; charset=utf-8').send(checkpoint)
      },
    )
    scope.get(
      `${path}/tile/*`,
      { ...options, schema: { hide: true, params: Type.Object({ ...params, '*': Type.String() }) } },
      async (request, reply) => {
        const asked = parseTilePath(request.params['*'])
        const [{ origin }, [tile]] = await ctx.db.read([findLogHead(), findTiles(asked === null ? [] : [asked])])
        requireCurrent(origin, request.url)
        const hashes = asked === null || tile === undefined ? null : findHashes(tile, asked.width)
        if (hashes === null) throw new Problem('not_found', 'The transparency log has no such tile.')
        return cached(reply, TILE_SECONDS, 'immutable').type('application/octet-stream').send(hashes)
      },
    )
  }

  /** Returns the path below which the files of the log with this name are. */
  function pathOf(origin: string): string {
    const suffix = suffixOfOrigin(origin)
    return suffix === null ? base : `${base}/${suffix}`
  }

  /** Throws if the path is not of the log that the database has now. */
  function requireCurrent(origin: string | null, url: string): void {
    const path = pathOf(origin ?? ctx.transparencyLog.origin)
    if (url.startsWith(`${path}/checkpoint`) || url.startsWith(`${path}/tile/`)) return
    throw new Problem('not_found', 'The transparency log is not here. /.well-known/bursar-log.json says where it is.')
  }
}

function cached(reply: FastifyReply, seconds: number, ...directives: string[]): FastifyReply {
  return reply.header('Cache-Control', ['public', `max-age=${seconds}`, ...directives].join(', '))
}
