import type { Context } from '../../../server/src/domain/context.ts'

/** Returns the context with its clock moved forward. The clock runs or stands still as before. */
export function later(ctx: Context, milliseconds: number): Context {
  return { ...ctx, clock: { now: () => new Date(ctx.clock.now().getTime() + milliseconds) } }
}

/** Returns the context with its clock standing still. */
export function frozenAt(ctx: Context, now: Date): Context {
  return { ...ctx, clock: { now: () => now } }
}
