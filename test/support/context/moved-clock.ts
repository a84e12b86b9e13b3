import type { Context } from '../../../server/src/domain/context.ts'

/** The context at another time: so much later, with the clock standing still or not as before. */
export function later(ctx: Context, milliseconds: number): Context {
  return { ...ctx, clock: { now: () => new Date(ctx.clock.now().getTime() + milliseconds) } }
}

/** The context with its clock standing still. */
export function frozenAt(ctx: Context, now: Date): Context {
  return { ...ctx, clock: { now: () => now } }
}
